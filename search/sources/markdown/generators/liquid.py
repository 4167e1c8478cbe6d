"""Liquid in Jekyll's pages: tags and values go, what they enclose stays, and those of links become paths."""

import re

_TAG = re.compile(
    r"\{%-?\s*raw\s*-?%\}(.*?)\{%-?\s*endraw\s*-?%\}|\{%-?\s*comment\s*-?%\}.*?\{%-?\s*endcomment\s*-?%\}"
    r"|\{%-?\s*(\w+)([^%]{0,1000}?)-?%\}|\{\{-?((?:(?!\{\{|\}\}).){0,1000}?)-?\}\}",
    re.DOTALL,
)
_ADDRESS = re.compile(r"\s*[\"']([^\"'\n]*)[\"']\s*\|\s*(?:relative_url|absolute_url|prepend:.*)\s*")
_HEADING = re.compile(r"(?m)^(#{1,6}[ \t](?=[^\n]*\{[{%])(?!.*(?:\{%-?\s*raw|\{:?[^{}\n]*#[^{}\n]*\}[ \t]*$))[^\n]*)$")
# kramdown: attributes of a heading may stand on the line below.
_ID_BELOW = re.compile(r"(?m)^(#{1,6}[ \t].*)\n(\{:[^{}\n]*#[^{}\n]*\})[ \t]*$")


def rewrite(body: str) -> str:
    """The page without Liquid, and with the ids of headings on their lines.

    A heading with a value of Liquid's has no anchor, because its text is not known.
    """
    if "{%" in body or "{{" in body:
        body = _TAG.sub(_write, _HEADING.sub(r"\1 {#}", body))
    return _ID_BELOW.sub(r"\1 \2", body) if "{:" in body else body


def _write(found: re.Match[str]) -> str:
    raw, name, rest, value = found.groups()
    if raw is not None:
        return raw
    if value is not None:
        address = _ADDRESS.fullmatch(value)
        return address[1] if address else ""
    words = (rest or "").split()
    if name == "highlight":
        return f"```{words[0] if words else ''}"
    if name == "link" and words:
        return f"/{words[0]}"
    if name == "post_url" and words:
        return f"/_posts/{words[0]}.md"
    return "```" if name == "endhighlight" else ""
