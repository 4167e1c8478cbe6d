"""Shortcodes of Hugo: the text that they show, from their attributes, their templates and the site's parameters."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from search.sources import Problem
from search.sources.files import read_text_or_nothing
from search.sources.markdown.sites import Meta, as_mapping
from search.sources.markdown.slugs import drop_unknown_anchors

MAX_TEMPLATE = 20_000  # characters; one that is longer, or shows more, is not simple
MAX_TOTAL = 1_000_000  # characters that the shortcodes of one page may show; each part of a template counts, too
_TAG = re.compile(r"\{\{([<%])(/\*)?((?:(?!\{\{[<%]|[>%]\}\}).){0,2000})[>%]\}\}", re.DOTALL)
_END = re.compile(r"\{\{[<%]\s{0,9}/\s{0,9}([\w/-]+)")
_NAME = re.compile(r"^([^\s\"`=]+)\s*")
_ARGUMENT = re.compile(r"(?:([\w-]+)[ \t]*=[ \t]*)?(?:\"((?:[^\"\\]|\\.?)*+)(?:\"|\Z)|`([^`]*+)(?:`|\Z)|([^\s\"`=]+))")
_ACTION = re.compile(r"(?:\s{0,200}\{\{-\s|\{\{)((?:(?!\{\{).){0,1000}?)(?:\s-\}\}\s{0,200}|\}\})", re.DOTALL)
_INNER = re.compile(r"\.Inner\b.*|\.Page\.RenderString .*\.Inner\b.*")
_GET = re.compile(r"\.Get\s+(?:(\d+)|[\"`]([\w-]+)[\"`])")
_PARAMETER = re.compile(r"(?:\.?(?:Site|Page)|site|page)\.Params?(?:\.|\s+\"|\s+`)([\w.-]+)[\"`]?")
_OUTPUT_FILTERS = re.compile(
    r"(?<!\s)\s*+\|\s*+(?:markdownify|safeHTML|safeURL|htmlUnescape|plainify|\.Page\.RenderString)\b"
)
# Hugo's and Docsy's own that leave their inner text, or show no text at all.
_KNOWN = frozenset(
    (
        *("figure", "gist", "instagram", "qr", "tweet", "vimeo", "x", "youtube", "details", "comment", "pageinfo"),
        *("alert", "card", "cardpane", "tab", "tabpane", "tabs", "imgproc", "swaggerui", "redoc", "iframe", "note"),
        *("warning", "caution", "conditional-text", "hint", "notice", "callout", "steps", "cards"),
    )
)
_TITLES = ("title", "header", "heading", "summary", "caption", "text")


class _Part(NamedTuple):
    """A part of a template: text, or what is shown in its place."""

    text: str = ""
    argument: str = ""
    parameter: str = ""
    is_inner: bool = False


class Shortcodes:
    """Replaces the shortcodes of a site's pages. `folder` is the site's, in `root`; `parameters` are the site's."""

    def __init__(self, root: Path, folder: Path, parameters: Meta) -> None:
        self.root, self.parameters = root, parameters
        themes = sorted(folder.glob("themes/*"))[:20]
        self.layouts = [
            place / "layouts" / name for place in (folder, *themes) for name in ("_shortcodes", "shortcodes")
        ]
        self.templates: dict[str, list[_Part] | None] = {}

    def expand(self, body: str, meta: Meta, problems: list[Problem]) -> str:
        """The page with the text of its shortcodes. One that is not understood leaves its inner text, and is a problem.

        An escaped one, `{{</* x */>}}`, is text and stays, without its escape. A heading with a shortcode of the form
        `{{< x >}}` has an id that changes with each build, so it has no anchor.
        """
        if "{{<" not in body and "{{%" not in body:
            return body
        closed = set(_END.findall(body))
        closing: dict[str, list[str]] = {}  # what the end tags of open shortcodes become
        left = MAX_TOTAL

        def write(tag: re.Match[str]) -> str:
            nonlocal left
            mark, is_escaped, inner = tag[1], tag[2], tag[3].strip()
            if is_escaped:
                return f"{{{{{mark} {inner.removesuffix('*/').strip()} {'>' if mark == '<' else mark}}}}}"
            if not _NAME.match(inner):
                return ""
            if inner.startswith("/"):
                ends = closing.get(inner[1:].strip(), [])
                return ends.pop() if ends else ""
            name, rest = _NAME.split(inner, 1)[1:]
            found = enumerate(_ARGUMENT.findall(rest.removesuffix("/")))
            arguments = {key or str(at): quoted or raw or bare for at, (key, quoted, raw, bare) in found}
            if left <= 0:
                problems.append(Problem("shortcode", name))
                return ""
            before, after = self.render(name, arguments, meta, problems)
            left -= len(before) + len(after) + len(self.templates.get(name) or ())
            if name.startswith("code") and name in closed and not after:  # such as `code-toggle`
                before, after = f"{before}\n~~~~\n", "\n~~~~\n"
            closing.setdefault(name, []).append(after)
            return before

        return _TAG.sub(write, drop_unknown_anchors(body, "{{<"))

    def render(self, name: str, arguments: Mapping[str, str], meta: Meta, problems: list[Problem]) -> tuple[str, str]:
        """What stands before the inner text of a shortcode, and behind it. Arguments have names or numbers."""
        first = arguments.get("0", "")
        if name in ("ref", "relref"):
            return first or arguments.get("path", ""), ""
        if name == "highlight":
            return f"```{first}", "```"
        if name in ("param", "params"):
            value = self.find_parameter(first, meta)
            if not value:
                problems.append(Problem("shortcode", f"param {first}"))
            return value, ""
        if name == "glossary_tooltip":
            return arguments.get("text") or arguments.get("term_id", "").replace("-", " "), ""
        template = self.load_template(name)
        if template is not None and (pieces := self.fill_template(template, arguments, meta)):
            return pieces
        if name not in _KNOWN:
            problems.append(Problem("shortcode", name))
        titles = [arguments[key] for key in _TITLES if arguments.get(key)]
        if name in ("tab", "tabitem"):
            titles = titles or [arguments.get("name") or arguments.get("label") or first]
        elif name == "figure" and not titles:
            return arguments.get("alt", ""), ""
        return "\n\n".join(["", *(f"**{title}**" for title in titles if title), ""]) if any(titles) else "", ""

    def find_parameter(self, name: str, meta: Meta) -> str:
        """A parameter of the page, or else of the site: empty for none. Its name may have dots."""
        for parameters in (meta, as_mapping(meta.get("params")), self.parameters):
            value: object = parameters
            for part in name.lower().split("."):
                named = {str(key).lower(): inner for key, inner in as_mapping(value).items()}
                value = named.get(part)
            if value and isinstance(value, str | int | float):
                return str(value)
        return ""

    def load_template(self, name: str) -> list[_Part] | None:
        """The parts of the template of a shortcode; None if the site has none, or it computes something."""
        if name not in self.templates:
            places = (layout / f"{name}.{ending}" for layout in self.layouts for ending in ("html", "md"))
            texts = (read_text_or_nothing(self.root, place) for place in places if place.is_file())
            text = next(texts, "") if re.fullmatch(r"[\w/-]{1,100}", name) else ""
            self.templates[name] = _parse_template(text) if text and len(text) <= MAX_TEMPLATE else None
        return self.templates[name]

    def fill_template(self, parts: list[_Part], arguments: Mapping[str, str], meta: Meta) -> tuple[str, str] | None:
        """What a template shows before and behind the inner text; None if that is too long."""
        shown: list[str] = []
        left = MAX_TEMPLATE
        for part in parts:
            if part.argument:
                text = arguments.get(part.argument, "")
            else:
                text = self.find_parameter(part.parameter, meta) if part.parameter else part.text
            left -= len(text)
            if left < 0:
                return None
            shown.append("\x00" if part.is_inner else text)
        before, _, after = "".join(shown).partition("\x00")
        return before.strip(), after.strip().replace("\x00", "")


def _parse_template(template: str) -> list[_Part] | None:
    """The parts of a template; None if it computes something."""
    parts: list[_Part] = []
    at = 0
    for action in _ACTION.finditer(template):
        parts.append(_Part(template[at : action.start()]))
        at = action.end()
        expression = _OUTPUT_FILTERS.sub("", action[1].strip())
        if _INNER.fullmatch(expression):
            parts.append(_Part(is_inner=True))
        elif argument := _GET.fullmatch(expression):
            parts.append(_Part(argument=argument[1] or argument[2]))
        elif parameter := _PARAMETER.fullmatch(expression):
            parts.append(_Part(parameter=parameter[1]))
        elif not expression.startswith("/*"):
            return None
    return [*parts, _Part(template[at:])]
