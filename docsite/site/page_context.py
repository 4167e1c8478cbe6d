"""The context that every page of the site shares: navigation, languages, texts."""

import logging
import time
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest

from analytics import agents
from analytics.collecting.requests import prefetch_purpose
from docsite.core import context
from docsite.core.access.authentication import project_by_domain
from docsite.core.tenants.models import Project
from docsite.site import interface_texts
from docsite.site.navigation import (
    DEFAULT_LANGUAGE,
    LANGUAGES,
    Page,
    groups,
    home_page,
    language_or_default,
    readable_pages,
)

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 1.0
RETRY_SECONDS = 5.0  # after the database did not answer
SITE_NAME = "Docs Service"


def page_context(language: str = DEFAULT_LANGUAGE, page: Page | None = None) -> dict[str, Any]:
    """The context of `base.html`.

    - `in_language`: the query of URLs that serve every language; `in_language_and`: the same, before more parameters
    - `words`: the texts of templates in the language; `script_words`: those of scripts, with the options of the widget
    - `home`: the path of the first page in the language
    - `groups`: the navigation
    - `widget`: domain and key, if the project of the site has a key
    - `languages` (code, name, href, current): links to this page for readers of each language, or to the first page
    - `versions`: name, href, current
    """
    key = settings.ENV.site_assistant_key
    slug = page.slug if page else "index"
    query = "" if language == DEFAULT_LANGUAGE else f"?language={language}"
    return {
        "site_name": SITE_NAME,
        "language": language,
        "in_language": query,
        "in_language_and": f"{query}&" if query else "?",
        "words": interface_texts.PAGE[language],
        "script_words": interface_texts.SCRIPT[language]
        | {"widget": interface_texts.widget_options(language, has_model=bool(settings.ENV.openai_base_url))},
        "home": home_page(language).path,
        "languages": [
            {"code": code, "name": name, "href": readable_pages(code)[slug].path, "current": code == language}
            for code, name in LANGUAGES.items()
        ],
        "versions": [{"name": settings.VERSION, "href": "/changelog", "current": True}],
        "groups": groups(language),
        "widget": {"domain": settings.ENV.site_domain, "key": key} if key and _last_site_project.may_exist() else None,
    }


def language_of(path: str) -> str:
    """The language of the pages near a path."""
    return language_or_default(path.strip("/").partition("/")[0])


def is_reader(request: HttpRequest) -> bool:
    """Whether a reader sent this request: no crawler, no prefetching browser, and not for the headers alone."""
    verdict = agents.classify(request.headers.get("User-Agent", ""))
    is_known_crawler = verdict.client_class in agents.KNOWN_CRAWLERS
    return request.method == "GET" and not prefetch_purpose(request) and not is_known_crawler


def site_project() -> Project | None:
    """The project of these pages; None if it does not exist."""
    return project_by_domain(settings.ENV.site_domain)


class _LastSiteProject:
    """The project of these pages as it was last read. Pages do not wait for a database that does not answer."""

    def __init__(self) -> None:
        self._project: Project | None = None
        self._was_read = False
        self._ask_again_at = 0.0

    def get(self) -> Project | None:
        """The project; None if it does not exist, or if the database has not answered yet."""
        if time.monotonic() >= self._ask_again_at:
            try:
                with context.limit_database_time(PATIENCE_SECONDS):
                    self._project, self._was_read = site_project(), True
            except DatabaseError:
                self._ask_again_at = time.monotonic() + RETRY_SECONDS
                logger.warning("The project of the site could not be read.", exc_info=True)
        return self._project

    def may_exist(self) -> bool:
        """False only if the database has said that there is none. Else pages show the widget."""
        return self.get() is not None or not self._was_read


_last_site_project = _LastSiteProject()
last_site_project = _last_site_project.get
