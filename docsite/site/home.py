"""What only the first page shows: pictures of the product, and three numbers with the pages that explain them."""

from typing import Any

from docsite.site.navigation import readable_pages
from search.sources.markdown.generators import GENERATORS

WIDGET_KILOBYTES = 6  # before a reader asks; the build fails above it
LANGUAGES = 22  # whose word forms the search knows
TOOLS = len(GENERATORS) + 1  # that build sites from Markdown, and Sphinx


def build_context(language: str) -> dict[str, Any]:
    """The context of `home.html`. The explanations are pages for readers of the language."""
    pages = readable_pages(language)
    return {
        "themes": ("light", "dark"),
        "answer_picture": "site/img/answer-",
        "report_picture": "site/img/report-",
        "widget_size": f"{WIDGET_KILOBYTES} KB",
        "about_widget": pages["embed"].path,
        "tools": TOOLS,
        "about_tools": pages["sources"].path,
        "word_languages": LANGUAGES,
        "about_languages": pages["how-it-works"].path,
    }
