"""The pages of the site, in reading order."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from docsite.pages.markdown import Heading, Rendered, render
from search.sources.markdown_dir import front_matter

CONTENT = Path(__file__).parent / "content"
CHANGELOG = Path(settings.BASE_DIR) / "CHANGELOG.md"

_ORDER = {
    "Start": ("index", "quickstart", "embed"),
    "Reference": (
        *("search-api", "how-search-works", "assistant-api", "how-answers-work", "streaming"),
        *("analytics-api", "how-visitors-are-counted", "who-is-ai", "errors-and-limits"),
    ),
    "Operate": ("dashboard", "commands", "configuration", "privacy", "changelog"),
}


@dataclass(frozen=True)
class Page:
    """One page: its front matter and its Markdown. The headline stands over the page, the title in lists."""

    slug: str
    group: str
    title: str
    headline: str
    description: str
    body: str

    @property
    def path(self) -> str:
        """Where the page is served."""
        return "/" if self.slug == "index" else f"/{self.slug}"

    @property
    def markdown_path(self) -> str:
        """Where its Markdown is served."""
        return f"/{self.slug}.md"

    @property
    def markdown(self) -> str:
        """The page as one Markdown document, its title as the first heading."""
        return f"# {self.headline}\n\n{self.description}\n\n{self.body}"

    @functools.cached_property
    def rendered(self) -> Rendered:
        """The body as HTML, made on first use."""
        return render(self.body)

    @property
    def contents(self) -> list[Heading]:
        """The headings that the page's table of contents shows."""
        return [heading for heading in self.rendered.headings if heading.level in (2, 3)]


def pages() -> Mapping[str, Page]:
    """Every page by slug, in reading order. Read once per process; with DEBUG, again after an edit."""
    files = [CONTENT / f"{slug}.md" for slugs in _ORDER.values() for slug in slugs]
    files += [CHANGELOG] if CHANGELOG.exists() else []
    return _read(max(file.stat().st_mtime_ns for file in files) if settings.DEBUG else 0)


@functools.lru_cache(maxsize=1)
def _read(newest: int) -> dict[str, Page]:
    return {slug: _page(slug, group) for group, slugs in _ORDER.items() for slug in slugs}


def _page(slug: str, group: str) -> Page:
    front, body = front_matter((CONTENT / f"{slug}.md").read_text(encoding="utf-8"))
    body = body.strip() + "\n"
    if slug == "changelog" and CHANGELOG.exists():
        body += "\n" + CHANGELOG.read_text(encoding="utf-8").partition("\n")[2].strip() + "\n"
    return Page(slug, group, front["title"], front.get("headline", front["title"]), front["description"], body)


def groups() -> list[tuple[str, list[Page]]]:
    """The navigation: each group's name and its pages."""
    known = pages()
    return [(group, [known[slug] for slug in slugs]) for group, slugs in _ORDER.items()]


def neighbours(page: Page) -> tuple[Page | None, Page | None]:
    """The page before and the page after, in reading order."""
    ordered = list(pages().values())
    place = ordered.index(page)
    return (
        ordered[place - 1] if place else None,
        ordered[place + 1] if place + 1 < len(ordered) else None,
    )
