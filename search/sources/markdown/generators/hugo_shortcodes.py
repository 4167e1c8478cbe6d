"""Hugo's shortcodes: their tags go, their inner text stays, and those of links become the linked path."""

import re

from search.sources.markdown.slugs import drop_unknown_anchors

_TAG = re.compile(r"\{\{([<%])(/\*)?((?:(?!\{\{[<%]|[>%]\}\}).){0,2000})[>%]\}\}", re.DOTALL)
_REFERENCE = re.compile(r"(?:rel)?ref[ \t]+[\"`]?([^\"`\s]+)")
_HIGHLIGHT = re.compile(r"highlight[ \t]+[\"`]?([\w+-]+)")


def rewrite(body: str) -> str:
    """The page without shortcodes. An escaped one, `{{</* x */>}}`, is text and stays, without its escape.

    A heading with a shortcode of the form `{{< x >}}` has an id that changes with each build, so it has no anchor.
    """
    if "{{<" not in body and "{{%" not in body:
        return body
    return _TAG.sub(_write_tag, drop_unknown_anchors(body, "{{<"))


def _write_tag(tag: re.Match[str]) -> str:
    mark, is_escaped, inner = tag.groups()
    inner = inner.strip()
    if is_escaped:
        return f"{{{{{mark} {inner.removesuffix('*/').strip()} {'>' if mark == '<' else mark}}}}}"
    if reference := _REFERENCE.match(inner):
        return reference[1]
    if language := _HIGHLIGHT.match(inner):
        return f"```{language[1]}"
    return "```" if inner.replace(" ", "") == "/highlight" else ""
