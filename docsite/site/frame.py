"""What every page of the site has around it."""

import functools
import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings

from docsite.core.access.authentication import project_by_domain
from docsite.core.tenants.models import Project
from docsite.site import interface_texts
from docsite.site.navigation import (
    FIRST,
    LANGUAGES,
    Page,
    groups,
    home,
    known_language,
    pages,
)

SITE_NAME = "Docs Service"


def frame(language: str = FIRST, page: Page | None = None) -> dict[str, Any]:
    """The context that `base.html` needs.

    `in_language` is the query of addresses that serve every language, `in_language_and`
    the same where more follows. `words` is what templates say in the language,
    `script_words` what scripts say (with the widget's options), and `home` where the
    language's first page is. `groups` is the navigation, and `widget` has domain and key
    where the site's project has a key for it. `languages` (code, name, href, current)
    lead to the page in that language, or else to that language's first page;
    `versions` have name, href, current.
    """
    key = settings.ENV.site_assistant_key
    query = "" if language == FIRST else f"?language={language}"
    return {
        "site_name": SITE_NAME,
        "language": language,
        "in_language": query,
        "in_language_and": f"{query}&" if query else "?",
        "words": interface_texts.PAGE[language],
        "script_words": interface_texts.SCRIPT[language] | {"widget": interface_texts.WIDGET.get(language)},
        "home": home(language).path,
        "languages": [
            {"code": code, "name": name, "href": _in_language(page, code).path, "current": code == language}
            for code, name in LANGUAGES.items()
        ],
        "versions": [{"name": version(), "href": "/changelog", "current": True}],
        "groups": groups(language),
        "widget": {"domain": settings.ENV.site_domain, "key": key} if key and site_project() else None,
    }


def language_of(path: str) -> str:
    """The language in which the pages around a path are."""
    return known_language(path.strip("/").partition("/")[0])


def _in_language(page: Page | None, code: str) -> Page:
    known = pages(code)
    return known[page.slug if page and page.slug in known else "index"]


def site_project() -> Project | None:
    """The project whose documentation these pages are."""
    return project_by_domain(settings.ENV.site_domain)


@functools.cache
def version() -> str:
    """The version that these pages describe, which is the one that serves them."""
    project = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])
