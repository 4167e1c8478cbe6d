"""The format in which a client requested a page: HTML or Markdown."""

import functools
import re

from analytics.agents.verdict import KNOWN_CRAWLERS


def requested_format(raw_path: str, accept: str) -> str:
    """The format that a request asks for: `llms` for llms.txt and llms-full.txt, `md` for Markdown, else `html`."""
    if not accept and "." not in raw_path:  # as in most views: spares the look at endings
        return "html"
    path = raw_path.partition("?")[0].partition("#")[0].lower()
    if path.endswith(("/llms.txt", "/llms-full.txt")):
        return "llms"
    return "md" if path.endswith((".md", ".mdx", ".markdown")) or prefers_markdown(accept) else "html"


def is_markdown_fetch(client_class: str, surface: str) -> bool:
    """Whether a view counts as AI because it requests Markdown, as only machines do. Known crawlers do not count."""
    return surface != "html" and client_class not in KNOWN_CRAWLERS


@functools.lru_cache(maxsize=1_000)
def prefers_markdown(accept: str) -> bool:
    """Whether an Accept header asks for Markdown at least as much as for HTML."""
    weights: dict[str, float] = {}
    for item in accept.lower().split(","):
        kind, *parameters = [part.strip() for part in item.split(";")]
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        weights[kind] = float(quality) if re.fullmatch(r"[01](\.\d{1,3})?", quality) else 0.0
    markdown = weights.get("text/markdown", weights.get("text/x-markdown", 0.0))
    return markdown > 0 and markdown >= weights.get("text/html", 0.0)
