"""Inline nodes of docutils as a line of Markdown."""

import re
from collections.abc import Iterable, Iterator

from docutils import nodes

from search.sources.rst.scope import TooMuch
from search.sources.rst.site import Site

HIDDEN = (nodes.Invisible, nodes.system_message, nodes.raw, nodes.colspec, nodes.substitution_definition)

_SPECIAL = re.compile(r"[\\`*\[\]<~{]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_TICKS = re.compile("`+")


class Inline:
    """The inline text of one document. `patience` is how many characters substitutions may add. Raises TooMuch."""

    def __init__(self, document: nodes.document, site: Site, patience: int) -> None:
        self.document = document
        self.site = site
        self.patience = patience
        self.open: set[str] = set()  # substitutions that are being replaced

    def line(self, children: Iterable[nodes.Node]) -> str:
        """Some inline nodes as one line."""
        return " ".join("".join(self._shown(node) for node in children).split())

    def flat(self, node: nodes.Element) -> str:
        """The text of some blocks on one line, without their form."""
        return " ".join(self._texts(node))

    def _texts(self, node: nodes.Element) -> Iterator[str]:
        for child in node.children:
            if isinstance(child, HIDDEN) or not isinstance(child, nodes.Element):
                continue
            if isinstance(child, nodes.literal_block | nodes.doctest_block):
                yield code(child.astext())
            elif isinstance(child, nodes.TextElement):
                yield self.line(child.children)
            else:
                yield from self._texts(child)

    def _shown(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.Text | nodes.problematic):
            return escaped(node.astext())
        if isinstance(node, nodes.substitution_reference):
            return self._substituted(node)
        if isinstance(node, nodes.image):  # is its description: nothing else of it can be searched
            return escaped(node.get("alt", ""))
        if isinstance(node, HIDDEN) and not isinstance(node, nodes.target):
            return ""
        if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
            return f"\\[{node.astext()}\\]"
        if isinstance(node, nodes.literal | nodes.math):
            return code(node.astext())
        if not isinstance(node, nodes.Element):
            return ""
        text = "".join(self._shown(child) for child in node.children)
        if isinstance(node, nodes.reference):
            return _link(node, text)
        if isinstance(node, nodes.strong):
            return _marked("**", text)
        if isinstance(node, nodes.emphasis | nodes.title_reference):
            return _marked("*", text)
        return text

    def _substituted(self, node: nodes.Element) -> str:
        """What stands behind `|name|`; the name where nothing does."""
        name = node["refname"]
        key = (
            name if name in self.document.substitution_defs else self.document.substitution_names.get(name.lower(), "")
        )
        definition = self.document.substitution_defs.get(key)
        if definition is None or key in self.open:
            given = self.site.substitutions.get(name.lower())
            return escaped(node.astext() if given is None else given)
        self.open.add(key)
        text = "".join(self._shown(child) for child in definition.children)
        self.open.discard(key)
        self.patience -= len(text) + 1
        if self.patience < 0:
            raise TooMuch
        return text


def code(text: str) -> str:
    """Text as a code span on one line."""
    text = " ".join(text.split())
    if not text:
        return ""
    ticks = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def escaped(text: str) -> str:
    """Text that Markdown, and what sites add to it, takes for nothing else."""
    return _SPECIAL.sub(lambda mark: f"\\{mark[0]}", text.replace("\x00", ""))


def _link(node: nodes.Element, text: str) -> str:
    target = node.get("refuri") or (f"#{node['refid']}" if node.get("refid") else "")
    if not target or not text.strip():
        return text
    target = target.replace("\n", "").replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    if node.astext() == target and target.startswith(("http://", "https://")):
        return f"<{target}>"
    return f"[{' '.join(text.split())}]({f'<{target}>' if '(' in target or ')' in target else target})"


def _marked(mark: str, text: str) -> str:
    bare = text.strip()
    return f"{mark}{bare}{mark}" if bare else text
