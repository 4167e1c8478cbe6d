"""A docutils document in Markdown, as `search.text.sections` reads it."""

import re
from collections.abc import Callable, Iterable, Sequence

from docutils import nodes

from search.sources.rst.inline import HIDDEN, Inline, code, escaped
from search.sources.rst.objects import described
from search.sources.rst.site import Site
from search.sources.rst.tables import table
from search.text.markdown.visible import slug

_BLOCK_MARK = re.compile(r"(?:[-+>#:=|]|!!!|\?\?\?|///|;?-+8<)")
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_AUTOMATIC = re.compile(r"id\d+$")
_ANCHOR = re.compile(r"[\w:.-]+$")
_TICKS = re.compile("`+")
_PARAMETER = re.compile(r"(?:param|parameter|arg|argument|key|keyword|var|ivar|cvar|raises?|except|exception)\s+(.+)$")
_TYPE = re.compile(r"(?:type|vartype|paramtype)\s+(.+)$")
_FIELDS = {"return": "Returns", "returns": "Returns", "rtype": "Return type"}


class Writer:
    """One walk over a document. Blocks are lists of texts, inline text is one line.

    `patience` is how many characters substitutions may add, `level` that of the heading above. Raises TooMuch.
    """

    def __init__(self, document: nodes.document, site: Site, patience: int, level: int = 0) -> None:
        self.document = document
        self.inline = Inline(document, site, patience)
        self.depth = level
        self.inside = 0  # how many lists and quotes there are around: no heading can stand there
        self.slugs: set[str] = set()
        self.titled = level > 0

    def markdown(self) -> str:
        """The whole page."""
        return "\n\n".join(self.blocks(self.document.children)) + "\n"

    def blocks(self, children: Iterable[nodes.Node]) -> list[str]:
        """What some nodes become, block by block. Text that stands among them is a paragraph."""
        found: list[str] = []
        line: list[nodes.Node] = []
        for node in children:
            if isinstance(node, nodes.Text | nodes.Inline) and not isinstance(node, nodes.image | nodes.target):
                line.append(node)
                continue
            found += self._line(line)
            line = []
            found += self.block(node)
        return found + self._line(line)

    def _line(self, children: Sequence[nodes.Node]) -> list[str]:
        return [text] if children and (text := _guarded(self.inline.line(children))) else []

    def block(self, node: nodes.Node) -> list[str]:
        """One block, which may be several here."""
        if isinstance(node, HIDDEN) or not isinstance(node, nodes.Element):
            return []
        for kind, write in _BLOCKS.items():
            if isinstance(node, kind):
                return write(self, node)
        if isinstance(node, nodes.TextElement):
            return self._line(node.children)
        return self.blocks(node.children)

    def section(self, node: nodes.Element) -> list[str]:
        self.depth += 1
        title = node.next_node(nodes.title)
        found = [self.heading(self.inline.line(title.children), _anchor(node))] if title else []
        found += self.blocks(child for child in node.children if child is not title)
        self.depth -= 1
        return found

    def heading(self, text: str, anchor: str) -> str:
        """A heading, which names its anchor where GitHub would give it another."""
        level = min(self.depth, 6)
        if level == 1 and not self.titled:
            self.titled = True
            return f"# {text}"
        self.titled = True
        shown = slug(re.sub(r"\\(?=[^\w\s])|`", "", text))
        if shown == anchor and shown not in self.slugs:
            self.slugs.add(shown)
            return f"{'#' * level} {text}"
        self.slugs.add(shown)
        told = f" {{#{escaped(anchor)}}}" if _ANCHOR.match(anchor) else ""  # `__init__` would be bold
        return f"{'#' * level} {text}{told}"

    def described(self, node: nodes.Element) -> list[str]:
        """What is described: a heading where one can stand, else its name in bold."""
        plain = node.get("is_text")
        name = escaped(node["called"]) if plain else code(node["called"])
        others = [shown for shown in node["signatures"] if shown != node["called"]]
        signatures = [
            ", ".join(map(escaped, others)) if plain else code(shown) for shown in others[: 1 if plain else None]
        ]
        if self.inside or (not node["ids"] and not node["called"]):
            return [f"**{name}**", *signatures, *self.blocks(node.children)]
        above, self.depth = self.depth, max(self.depth, 1) + 1  # what is described is never the page's title
        anchor = node["ids"][0] if node["ids"] else ""
        found = [self.heading(name, anchor) if anchor else f"**{name}**", *signatures, *self.blocks(node.children)]
        self.depth = above
        return found

    def literal_block(self, node: nodes.Element) -> list[str]:
        text = node.astext().rstrip()
        if not text:
            return []
        fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(text)), 3)
        language = re.sub(r"[^\w+#.-]", "", node.get("language", ""))
        return [f"{fence}{'' if language in ('none', 'text', 'default') else language}\n{text}\n{fence}"]

    def doctest_block(self, node: nodes.Element) -> list[str]:
        return [f"```python\n{node.astext()}\n```"]

    def quote(self, node: nodes.Element) -> list[str]:
        """A quote. Lists that are only indented are no quotes."""
        if all(isinstance(child, nodes.Sequential | nodes.table | nodes.literal_block) for child in node.children):
            return self._inside(node.children)
        return ["\n".join(f"> {line}".rstrip() for line in "\n\n".join(self._inside(node.children)).split("\n"))]

    def _inside(self, children: Iterable[nodes.Node]) -> list[str]:
        self.inside += 1
        found = self.blocks(children)
        self.inside -= 1
        return found

    def bullets(self, node: nodes.Element) -> list[str]:
        return self._items(("- ", self._inside(item.children)) for item in node.children)

    def numbers(self, node: nodes.Element) -> list[str]:
        start = node.get("start", 1)
        marks = (f"{number}. " for number in range(start, start + len(node.children)))
        return self._items((mark, self._inside(item.children)) for mark, item in zip(marks, node.children, strict=True))

    def definitions(self, node: nodes.Element) -> list[str]:
        """Each term in bold, as an item with its meaning."""
        items = []
        for item in node.children:
            terms = [self.inline.line(part.children) for part in item.children if isinstance(part, nodes.term)]
            kinds = [self.inline.line(part.children) for part in item.children if isinstance(part, nodes.classifier)]
            meaning = [part for part in item.children if isinstance(part, nodes.definition)]
            head = " ".join([f"**{terms[0]}**" if terms and terms[0] else "", *(f"({kind})" for kind in kinds)]).strip()
            items.append(("- ", [head, *self._inside(child for part in meaning for child in part.children)]))
        return self._items(items)

    def fields(self, node: nodes.Element) -> list[str]:
        """Parameters and the like, each with its type if that is told apart."""
        fields = [(_elements(field)[0], _elements(field)[1]) for field in _elements(node)]
        types = {found[1]: self.inline.flat(body) for name, body in fields if (found := _TYPE.match(name.astext()))}
        parameters = {_named(name.astext()) for name, _ in fields}
        items = []
        for named, body in fields:
            name = named.astext()
            typed = _TYPE.match(name)
            if typed and typed[1] in parameters:
                continue
            if parameter := _named(name):
                words = parameter.split()
                kind = " ".join(words[:-1]) or types.get(parameter, "")
                head = f"{code(words[-1])}{f' ({kind})' if kind else ''}"
                if name.startswith(("raise", "except")):
                    head = f"**Raises** {code(parameter)}"
            else:
                head = f"**{_FIELDS.get(name, '') or self.inline.line(named.children)}**"
            content = self._inside(body.children)
            if content and isinstance(body.children[0], nodes.paragraph):
                content[0] = f"{head}: {content[0]}"
            else:
                content.insert(0, head)
            items.append(("- ", content))
        return self._items(items)

    def options(self, node: nodes.Element) -> list[str]:
        items = []
        for item in _elements(node):
            group, description = _elements(item)
            names = code(", ".join(option.astext().strip() for option in group.children))
            items.append(("- ", [names, *self._inside(description.children)]))
        return self._items(items)

    def _items(self, items: Iterable[tuple[str, list[str]]]) -> list[str]:
        """A list; a tight one if each item is a single block."""
        written = []
        tight = True
        for mark, content in items:
            if content:
                tight = tight and len(content) == 1
                pad = " " * len(mark)
                text = "\n\n".join(content).replace("\n", f"\n{pad}")
                written.append(mark + re.sub(r"(?m)^ +$", "", text))
        return [("\n" if tight else "\n\n").join(written)] if written else []

    def lines(self, node: nodes.Element) -> list[str]:
        """Lines that stay lines."""
        found = [_guarded(self.inline.line(part.children)) for part in node.findall(nodes.line) if len(part.children)]
        return ["  \n".join(found)] if found else []

    def table(self, node: nodes.Element) -> list[str]:
        return table(node, self.inline)

    def footnote(self, node: nodes.Element) -> list[str]:
        """A footnote with its number, where it stands."""
        label = node.next_node(nodes.label)
        text = self.blocks(child for child in node.children if child is not label)
        mark = f"\\[{label.astext() if label else ''}\\]"
        return [f"{mark} {text[0]}", *text[1:]] if text else []

    def image(self, node: nodes.Element) -> list[str]:
        return self._line([node])

    def attribution(self, node: nodes.Element) -> list[str]:
        return [f"— {self.inline.line(node.children)}"]

    def rule(self, node: nodes.Element) -> list[str]:
        return ["---"]

    def title(self, node: nodes.Element) -> list[str]:
        text = self.inline.line(node.children)
        return [f"**{text}**"] if text else []


def _guarded(line: str) -> str:
    """A paragraph whose first characters begin no other block."""
    if _BLOCK_MARK.match(line):
        return f"\\{line}"
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def _anchor(node: nodes.Element) -> str:
    """The id that Sphinx links a section by: a label's where its own was only counted."""
    ids = node["ids"]
    if len(ids) > 1 and _AUTOMATIC.match(ids[0]):
        return str(ids[1])
    return str(ids[0]) if ids else ""


def _elements(node: nodes.Element) -> list[nodes.Element]:
    return [child for child in node.children if isinstance(child, nodes.Element)]


def _named(field: str) -> str:
    found = _PARAMETER.match(field)
    return found[1] if found else ""


_BLOCKS: dict[type[nodes.Node], Callable[[Writer, nodes.Element], list[str]]] = {
    nodes.section: Writer.section,
    described: Writer.described,
    nodes.literal_block: Writer.literal_block,
    nodes.math_block: Writer.literal_block,
    nodes.doctest_block: Writer.doctest_block,
    nodes.block_quote: Writer.quote,
    nodes.bullet_list: Writer.bullets,
    nodes.enumerated_list: Writer.numbers,
    nodes.definition_list: Writer.definitions,
    nodes.field_list: Writer.fields,
    nodes.option_list: Writer.options,
    nodes.line_block: Writer.lines,
    nodes.table: Writer.table,
    nodes.footnote: Writer.footnote,
    nodes.citation: Writer.footnote,
    nodes.image: Writer.image,
    nodes.attribution: Writer.attribution,
    nodes.transition: Writer.rule,
    nodes.title: Writer.title,
}
