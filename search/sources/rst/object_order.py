"""Arrange described objects and the text around them: what Markdown's headings cannot say by indentation.

In Markdown all text belongs to the heading above it. In Sphinx the text behind an object belongs to the page again.
"""

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from docutils import nodes

from search.sources.rst.site import MAX_TITLE

MAX_NAMES = 4  # in the heading of a section that describes several objects


def arrange_objects(document: nodes.document) -> None:
    """Arrange the children of every node that contains objects or labels.

    - Objects without a text belong to the next object, if that is of the same kind: `get` and its twin `aget`.
    - Objects without a text in front of other text become their signatures, so that the text stays in its section.
    - An object or a label in front of a heading that names it disappears: `.. setting:: DEBUG`.
    - Text behind an object gets the heading of its own section again.
    """
    parents = {id(node.parent): node.parent for node in document.findall(_is_arranged) if node.parent is not None}
    for parent in parents.values():
        parent.children = _repeat_heading(parent, _remove_labels(parent, _join(parent)))
        for child in parent.children:
            child.parent = parent


def title_of(names: Iterable[str]) -> list[nodes.Node]:
    """The names of objects as the content of a heading, each once."""
    title: list[nodes.Node] = []
    for name in list(dict.fromkeys(names))[:MAX_NAMES]:
        title += [nodes.Text(", "), nodes.literal("", name)]
    return title[1:]


def _join(parent: nodes.Element) -> list[nodes.Node]:
    """The children; objects that have no text of their own are in the next object, or are signatures before text."""
    children: list[nodes.Node] = []
    waiting: list[nodes.Element] = []  # objects without a text
    for child in parent.children:
        if _is_object(child) and child["is_bare"]:
            waiting.append(child)
            continue
        if isinstance(child, nodes.section):
            if _is_object(child) and all(sibling["directive"] == child["directive"] for sibling in waiting):
                _prepend(child, waiting)
                waiting = []
            children += waiting
            waiting = []
        elif not isinstance(child, nodes.Invisible):
            # The signatures of an object without a text, as paragraphs.
            children += [
                part
                for one in waiting
                for part in one.children[1:] or [nodes.paragraph("", "", *one.children[0].children)]
            ]
            waiting = []
        children.append(child)
    return children + waiting


def _prepend(section: nodes.Element, objects: Sequence[nodes.Element]) -> None:
    """Let a section describe these objects, too. It gets the anchor of the first."""
    if not objects:
        return
    described = [*objects, section]
    section["names_shown"] = [name for description in described for name in description["names_shown"]]
    section["ids"] = next((description["ids"] for description in described if description["ids"]), [])
    below = [part for description in described for part in description.children[1:]]
    section.children = [nodes.title("", "", *title_of(section["names_shown"])), *below]
    for child in section.children:
        child.parent = section


def _remove_labels(parent: nodes.Element, children: list[nodes.Node]) -> list[nodes.Node]:
    """The children, without objects and labels right in front of a heading that names them."""
    kept: list[nodes.Node] = []
    after = ""  # the title of the section that follows, if nothing stands between
    if children and _names_of(children[-1]):
        after = _title_behind(parent)
    for child in reversed(children):
        names = _names_of(child) if after else []
        if any(name.casefold() in after.casefold() for name in names):
            continue
        kept.append(child)
        if not isinstance(child, nodes.Invisible):
            after = _section_title(child)
    return kept[::-1]


def _names_of(node: nodes.Node) -> list[str]:
    """The names of a label, or of an object without a text."""
    if _is_object(node):
        return list(node["names_shown"]) if node["is_bare"] else []
    return [node["label"]] if isinstance(node, nodes.paragraph) and node.get("label") else []


def _title_behind(node: nodes.Element) -> str:
    """The title of the section that begins right behind a node; empty if something else follows."""
    while node.parent is not None:
        siblings = node.parent.children
        for sibling in siblings[siblings.index(node) + 1 :]:
            if not isinstance(sibling, nodes.Invisible):
                return _section_title(sibling)
        node = node.parent
    return ""


def _section_title(node: nodes.Node) -> str:
    """The title of a section that describes no object; empty for any other node."""
    is_section = isinstance(node, nodes.section) and not _is_object(node)
    return node.children[0].astext() if is_section and node.children else ""


def _repeat_heading(parent: nodes.Element, children: list[nodes.Node]) -> list[nodes.Node]:
    """The children; text behind an object is in a section of its own, with the parent's title and anchor."""
    title = parent.children[0] if isinstance(parent, nodes.section) and parent.children else None
    if not isinstance(title, nodes.title) or len(title.astext()) > MAX_TITLE:
        return children
    arranged: list[nodes.Node] = []
    own: nodes.section | None = None  # the section that takes text
    is_behind_object = False
    for child in children:
        if isinstance(child, nodes.section):
            arranged.append(child)
            is_behind_object, own = _is_object(child), None
        elif own is not None:
            own += child
        elif is_behind_object and not isinstance(child, nodes.Invisible):
            own = nodes.section("", title.deepcopy(), child, ids=parent["ids"], is_continued=True)
            arranged.append(own)
        else:
            arranged.append(child)
    return arranged


def _is_object(node: nodes.Node) -> TypeGuard[nodes.section]:
    return isinstance(node, nodes.section) and bool(node.get("is_object"))


def _is_arranged(node: nodes.Node) -> bool:
    return _is_object(node) or (isinstance(node, nodes.paragraph) and bool(node.get("label")))
