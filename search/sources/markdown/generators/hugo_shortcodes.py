"""Shortcodes of Hugo: the text that they show, from their attributes, their templates and the site's parameters."""

import re
from collections.abc import Mapping
from pathlib import Path

from search.sources import Problem
from search.sources.files import read_text_or_nothing
from search.sources.markdown.sites import Meta, as_mapping
from search.sources.markdown.slugs import drop_unknown_anchors

MAX_TEMPLATE = 20_000  # characters; a longer one is not simple
_TAG = re.compile(r"\{\{([<%])(/\*)?((?:(?!\{\{[<%]|[>%]\}\}).){0,2000})[>%]\}\}", re.DOTALL)
_END = re.compile(r"\{\{[<%]\s{0,9}/\s{0,9}([\w/-]+)")
_NAME = re.compile(r"^([^\s\"`=]+)\s*")
_ARGUMENT = re.compile(r"(?:([\w-]+)[ \t]*=[ \t]*)?(?:\"((?:[^\"\\]|\\.)*)\"|`([^`]*)`|([^\s\"`=]+))")
_ACTION = re.compile(r"(?:\s{0,200}\{\{-\s|\{\{)(.{0,1000}?)(?:\s-\}\}\s{0,200}|\}\})", re.DOTALL)
_INNER = re.compile(r"\.Inner\b.*|\.Page\.RenderString .*\.Inner\b.*")
_GET = re.compile(r"\.Get\s+(?:(\d+)|[\"`]([\w-]+)[\"`])")
_PARAMETER = re.compile(r"(?:\.?(?:Site|Page)|site|page)\.Params?(?:\.|\s+\"|\s+`)([\w.-]+)[\"`]?")
_OUTPUT_FILTERS = re.compile(r"\s*\|\s*(?:markdownify|safeHTML|safeURL|htmlUnescape|plainify|\.Page\.RenderString)\b")
# Hugo's and Docsy's own that leave their inner text, or show no text at all.
_KNOWN = frozenset(
    (
        *("figure", "gist", "instagram", "qr", "tweet", "vimeo", "x", "youtube", "details", "comment", "pageinfo"),
        *("alert", "card", "cardpane", "tab", "tabpane", "tabs", "imgproc", "swaggerui", "redoc", "iframe", "note"),
        *("warning", "caution", "conditional-text", "hint", "notice", "callout", "steps", "cards"),
    )
)
_TITLES = ("title", "header", "heading", "summary", "caption", "text")


class Shortcodes:
    """Replaces the shortcodes of a site's pages. `folder` is the site's, in `root`; `parameters` are the site's."""

    def __init__(self, root: Path, folder: Path, parameters: Meta) -> None:
        self.root, self.parameters = root, parameters
        themes = sorted(folder.glob("themes/*"))[:20]
        self.layouts = [
            place / "layouts" / name for place in (folder, *themes) for name in ("_shortcodes", "shortcodes")
        ]
        self.templates: dict[str, str] = {}

    def expand(self, body: str, meta: Meta, problems: list[Problem]) -> str:
        """The page with the text of its shortcodes. One that is not understood leaves its inner text, and is a problem.

        An escaped one, `{{</* x */>}}`, is text and stays, without its escape. A heading with a shortcode of the form
        `{{< x >}}` has an id that changes with each build, so it has no anchor.
        """
        if "{{<" not in body and "{{%" not in body:
            return body
        closed = set(_END.findall(body))
        closing: dict[str, list[str]] = {}  # what the end tags of open shortcodes become

        def write(tag: re.Match[str]) -> str:
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
            before, after = self.render(name, arguments, meta, problems)
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
        if template and (pieces := self.fill_template(template, arguments, meta)):
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

    def load_template(self, name: str) -> str:
        """The template of a shortcode; empty if the site has none."""
        if name not in self.templates:
            places = (layout / f"{name}.{ending}" for layout in self.layouts for ending in ("html", "md"))
            texts = (read_text_or_nothing(self.root, place) for place in places if place.is_file())
            self.templates[name] = next(texts, "") if re.fullmatch(r"[\w/-]{1,100}", name) else ""
        return self.templates[name]

    def fill_template(self, template: str, arguments: Mapping[str, str], meta: Meta) -> tuple[str, str] | None:
        """What a simple template shows before and behind the inner text; None if it computes something."""
        is_simple = len(template) <= MAX_TEMPLATE

        def fill(action: re.Match[str]) -> str:
            nonlocal is_simple
            expression = _OUTPUT_FILTERS.sub("", next(group for group in action.groups() if group is not None).strip())
            if expression.startswith("/*"):
                return ""
            if _INNER.fullmatch(expression):
                return "\x00"
            if argument := _GET.fullmatch(expression):
                return arguments.get(argument[1] or argument[2], "")
            if parameter := _PARAMETER.fullmatch(expression):
                return self.find_parameter(parameter[1], meta)
            is_simple = False
            return ""

        before, _, after = _ACTION.sub(fill, template[:MAX_TEMPLATE]).partition("\x00")
        return (before.strip(), after.strip().replace("\x00", "")) if is_simple else None
