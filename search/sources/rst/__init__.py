"""reStructuredText to Markdown, with the anchors of Sphinx. Nothing is run.

docutils parses. It looks its directives and roles up in registries of the process, so ours are registered there; they
find the page through the document that they stand in. Only this package uses docutils.
"""

import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Parser
from docutils.transforms import references

from search.sources.rst import includes as includes  # registers its directives
from search.sources.rst.directives import MAX_LINE, prepare
from search.sources.rst.scope import Scope, TooMuch
from search.sources.rst.site import MAX_WRITTEN, Site
from search.sources.rst.writer import Writer

MAX_TARGETS = 3000  # of a page
MESSAGE = 40  # line visits that a message of docutils stands for: it ends a search that was in vain

logger = logging.getLogger(__name__)

_SETTINGS = {
    "_disable_config": True,
    "auto_id_prefix": "id",  # as Sphinx has it
    "file_insertion_enabled": False,
    "halt_level": 5,
    "line_length_limit": MAX_LINE,
    "raw_enabled": False,
    "report_level": 5,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "warning_stream": False,
}
_TRANSFORMS = [
    references.PropagateTargets,
    references.AnonymousHyperlinks,
    references.IndirectHyperlinks,
    references.Footnotes,
    references.ExternalTargets,
    references.InternalTargets,
]


@dataclass(frozen=True)
class Text:
    """A page in Markdown, and its metadata: `nosearch`, a description."""

    markdown: str
    meta: dict[str, str]


class Document(nodes.document):
    """A document that knows the scope of its page, and ends a parse that takes too long with TooMuch."""

    def __init__(self, scope: Scope) -> None:
        settings = _settings().copy()
        super().__init__(settings, utils.new_reporter(scope.page, settings), source=scope.page)
        self.scope = scope
        self.targets = 0
        self.reporter.attach_observer(lambda message: scope.spend(MESSAGE))

    def note_source(self, source: str, offset: int) -> None:
        """docutils calls this for each line that it visits, once for each block around the line."""
        super().note_source(source, offset)
        self.scope.spend(1)

    def note_explicit_target(self, target: nodes.Element, msgnode: nodes.Element | None = None) -> None:
        super().note_explicit_target(target, msgnode)
        self.targets += 1
        if self.targets > MAX_TARGETS:
            raise TooMuch(f"more than {MAX_TARGETS} targets")


def read(
    source: str, site: Site | None = None, page: str = "index", level: int = 0, scope: Scope | None = None
) -> Text:
    """A page; with `level`, the text below a heading of that level. `scope` is of the page around, if there is one.

    Never raises: a page that is too long, takes too long or is broken beyond parsing becomes its plain text.
    """
    site = site or Site()
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    whole = "\n\n".join(filter(None, [site.prolog, source, site.epilog]))
    scope = scope or Scope(site, page, highlight=site.highlight)
    try:
        document = _parse(whole, scope)
        meta = _metadata(document)
        markdown = Writer(document, level).markdown()
        if len(markdown) > MAX_WRITTEN:
            raise TooMuch(f"{len(markdown)} characters")
        return Text(markdown, meta)
    except Exception as failure:  # docutils raises what it likes: no page should be lost for that
        expected = isinstance(failure, TooMuch | RecursionError)
        logger.warning("%s: left as plain text: %r", page, failure, exc_info=None if expected else failure)
    return Text(_plain_text(source), {})


def _parse(source: str, scope: Scope) -> Document:
    document = Document(scope)
    Parser().parse(prepare(source), document)
    document.transformer.add_transforms(_TRANSFORMS)
    document.transformer.apply_transforms()
    return document


@cache
def _settings() -> Any:
    """Settings under which docutils reads no file and no configuration, and prints nothing."""
    settings = frontend.get_default_settings(Parser)
    vars(settings).update(_SETTINGS)
    return settings


def _metadata(document: nodes.document) -> dict[str, str]:
    """The metadata of `meta` and of the field list at the top, which is taken out, as in Sphinx."""
    found = {node.get("name", ""): node.get("content", "") for node in document.findall(nodes.meta)}
    first = next((node for node in document.children if not isinstance(node, nodes.Invisible)), None)
    if isinstance(first, nodes.field_list):
        document.remove(first)
        for field in first.children:
            name, body = field.children
            found[name.astext().lower()] = body.astext()
    return found


def _plain_text(source: str) -> str:
    """The text of a page that cannot be parsed, with its paragraphs."""
    paragraphs = re.split(r"\n\s*\n", source)
    return "\n\n".join(
        re.sub(r"([\\`*_\[\]<#{|~])", r"\\\1", " ".join(one.split())) for one in paragraphs if one.strip()
    )
