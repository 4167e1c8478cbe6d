"""The pages of the site, in reading order. All are in the default language, and some are translated."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from docsite.site import interface_texts
from docsite.site.markdown import Heading, Rendered, render
from search.sources.markdown.front_matter import get_former_paths, split_front_matter

CONTENT = Path(__file__).parent / "content"
CHANGELOG: Path = settings.FILES / "CHANGELOG.md"

DEFAULT_LANGUAGE = "en"
LANGUAGES = {DEFAULT_LANGUAGE: "English", "de": "Deutsch"}

_ORDER = {
    "Start": ("index", "quickstart", "models", "dashboard"),
    "Content": ("sources", "your-tools", "pages-for-some-readers", "how-it-works"),
    "Widget and search": ("embed", "coding-agents", "agents-on-your-site", "playground", "gallery"),
    "Analytics": ("reports", "how-visitors-are-counted", "collecting"),
    "API": ("search-api", "assistant-api", "streaming", "analytics-api", "webhooks", "errors-and-limits"),
    "Operate": (
        *("deployment", "configuration", "commands", "security", "privacy", "troubleshooting"),
        *("runbooks", "at-scale", "performance", "changelog"),
    ),
}
_GROUPS = {
    "de": {
        "Start": "Einstieg",
        "Content": "Inhalte",
        "Widget and search": "Widget und Suche",
        "Analytics": "Auswertung",
        "API": "Schnittstellen",
        "Operate": "Betrieb",
    }
}


@dataclass(frozen=True)
class Page:
    """One page: its front matter and its Markdown. The page shows `headline`; lists show `title`.

    `language` is that of its text. `reader_language` is that of the pages around it, which differs where a translation
    is missing.
    """

    slug: str
    language: str
    reader_language: str
    group: str
    title: str
    headline: str
    description: str
    body: str
    former_paths: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Where the page is served."""
        root = _root(self.reader_language)
        return (root or "/") if self.slug == "index" else f"{root}/{self.slug}"

    @property
    def markdown_path(self) -> str:
        """Where its Markdown is served."""
        return f"{_root(self.reader_language)}/{self.slug}.md"

    @property
    def original(self) -> "Page":
        """The page at its own address, among the pages of its language."""
        return pages(self.language)[self.slug]

    @functools.cached_property
    def rendered(self) -> Rendered:
        """The body as HTML, rendered on first use."""
        return render(self.body, interface_texts.PAGE[self.reader_language]["link_to"])

    @property
    def contents(self) -> list[Heading]:
        """The headings in the table of contents of the page."""
        return [heading for heading in self.rendered.headings if heading.level in (2, 3)]


def language_or_default(code: str) -> str:
    """The code if it is a language of the site, else the default language."""
    return code if code in LANGUAGES else DEFAULT_LANGUAGE


def home_page(language: str) -> Page:
    """The first page of a language."""
    return pages(language)["index"]


def _root(language: str) -> str:
    return "" if language == DEFAULT_LANGUAGE else f"/{language}"


def pages(language: str = DEFAULT_LANGUAGE) -> Mapping[str, Page]:
    """The pages of a language by slug, in reading order. Loaded once in a process."""
    return _load(language)


@functools.cache
def _load(language: str) -> dict[str, Page]:
    folder = CONTENT if language == DEFAULT_LANGUAGE else CONTENT / language
    return {
        slug: _page(folder / f"{slug}.md", language, group)
        for group, slugs in _ORDER.items()
        for slug in slugs
        if language == DEFAULT_LANGUAGE or (folder / f"{slug}.md").exists()
    }


def _page(file: Path, language: str, group: str) -> Page:
    front, body = split_front_matter(file.read_text(encoding="utf-8"))
    if "groups" in front:
        raise ValueError(f"{file.name}: this site shows every page to everybody, so none can name groups")
    body = body.strip() + "\n"
    if file.stem == "changelog" and CHANGELOG.exists():
        body += "\n" + CHANGELOG.read_text(encoding="utf-8").partition("\n")[2].strip() + "\n"
    group_name = _GROUPS.get(language, {}).get(group, group)
    title = front["title"]
    headline, former = front.get("headline", title), tuple(get_former_paths(front))
    return Page(file.stem, language, language, group_name, title, headline, front["description"], body, former)


@functools.cache
def moved_pages() -> Mapping[str, Page]:
    """The pages that took the place of others, by the paths of those."""
    return {path: page for page in reversed(all_pages()) for path in page.former_paths}


@functools.cache
def readable_pages(language: str) -> Mapping[str, Page]:
    """Every page by slug, for readers of a language: pages without a translation in the default language."""
    names = _GROUPS.get(language, {})
    untranslated = {
        slug: replace(page, reader_language=language, group=names.get(page.group, page.group))
        for slug, page in pages().items()
    }
    return {**untranslated, **pages(language)}


def all_pages() -> list[Page]:
    """The pages of all languages, those of the default language first."""
    return [page for language in LANGUAGES for page in pages(language).values()]


def list_paths() -> list[str]:
    """Where the pages of all languages are served, as HTML and as Markdown."""
    return [path for page in all_pages() for path in (page.path, page.markdown_path)]


def translations(page: Page) -> list[Page]:
    """The page in each language that it exists in, itself included."""
    return [pages(language)[page.slug] for language in LANGUAGES if page.slug in pages(language)]


def groups(language: str = DEFAULT_LANGUAGE) -> list[tuple[str, list[Page]]]:
    """The navigation: the name of each group and its pages."""
    available = readable_pages(language)
    names = _GROUPS.get(language, {})
    return [(names.get(group, group), [available[slug] for slug in slugs]) for group, slugs in _ORDER.items()]


def neighbours(page: Page) -> tuple[Page | None, Page | None]:
    """The page before and the page after, in reading order."""
    ordered = [each for _, members in groups(page.reader_language) for each in members]
    position = ordered.index(page)
    return (
        ordered[position - 1] if position else None,
        ordered[position + 1] if position + 1 < len(ordered) else None,
    )
