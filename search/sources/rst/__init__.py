"""reStructuredText to Markdown, with the anchors of Sphinx. No code of a page is run.

docutils parses. It looks directives and roles up in registries of the process, so ours are registered there. They
find their page through the document. Only this package and MyST use docutils.
"""

import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Parser
from docutils.transforms import references

from search.sources import Problem
from search.sources.rst import includes as includes  # registers its directives
from search.sources.rst.directives import MAX_LINE, prepare
from search.sources.rst.object_order import arrange_objects
from search.sources.rst.scope import PageTooComplex, Scope
from search.sources.rst.site import MAX_MARKDOWN, Site
from search.sources.rst.writer import Writer
from search.text.markdown.writer import escape_line_start, escape_text

PLAIN_TEXT = Problem("markup", "is shown as plain text")
MAX_TARGETS = 3000  # of a page
_GROUPS = re.compile(r"(?im)^[ \t]*+:groups:[ \t]*+(.++)$")
MESSAGE_WORK = 40  # line visits that a message of docutils counts as: docutils has searched in vain before

logger = logging.getLogger(__name__)

_SETTINGS = {
    "_disable_config": True,
    "auto_id_prefix": "id",  # as in Sphinx
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
class MarkdownPage:
    """A page in Markdown, its metadata, for example `nosearch` and `description`, and what of it is lost."""

    markdown: str
    meta: dict[str, str]
    problems: tuple[Problem, ...] = ()


class Document(nodes.document):
    """A document with the scope of its page. It ends a parse that takes too long with PageTooComplex."""

    def __init__(self, scope: Scope) -> None:
        settings = _settings().copy()
        super().__init__(settings, utils.new_reporter(scope.page, settings), source=scope.page)
        self.scope = scope
        self.target_count = 0
        self.reporter.attach_observer(lambda message: scope.spend(MESSAGE_WORK))

    def note_source(self, source: str, offset: int) -> None:
        """docutils calls this each time it visits a line: once for each block that contains the line."""
        super().note_source(source, offset)
        self.scope.spend(1)

    def note_explicit_target(self, target: nodes.Element, msgnode: nodes.Element | None = None) -> None:
        super().note_explicit_target(target, msgnode)
        self.target_count += 1
        if self.target_count > MAX_TARGETS:
            raise PageTooComplex(f"more than {MAX_TARGETS} targets")


def convert(
    source: str, site: Site | None = None, page: str = "index", level: int = 0, scope: Scope | None = None
) -> MarkdownPage:
    """A page in Markdown. A part of a page has the `scope` of the page, and the `level` of the heading above.

    Never raises: a page that is too long, takes too long or cannot be parsed becomes its plain text.
    """
    site = site or Site()
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    whole = "\n\n".join(filter(None, [site.prolog, source, site.epilog]))
    scope = scope or Scope(site, page, highlight=site.highlight)
    try:
        document = _parse(whole, scope)
        meta = _remove_metadata(document)
        arrange_objects(document)
        markdown = Writer(document, level).markdown()
        if len(markdown) > MAX_MARKDOWN:
            raise PageTooComplex(f"{len(markdown)} characters")
        return MarkdownPage(markdown, meta, tuple(scope.problems))
    except Exception as failure:  # docutils may raise anything, and no page should be lost for that
        is_expected = isinstance(failure, PageTooComplex | RecursionError)
        logger.warning("%s: left as plain text: %r", page, failure, exc_info=None if is_expected else failure)
    groups = _GROUPS.search(source)  # such a page must stay with its readers, too
    scope.problems.append(PLAIN_TEXT)
    return MarkdownPage(_plain_text(source), {"groups": groups[1]} if groups else {}, tuple(scope.problems))


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


def _remove_metadata(document: nodes.document) -> dict[str, str]:
    """The metadata of `meta` and of the field list at the top. The list is removed, as in Sphinx."""
    meta = {node.get("name", "").lower(): node.get("content", "") for node in document.findall(nodes.meta)}
    first = next((node for node in document.children if not isinstance(node, nodes.Invisible)), None)
    if isinstance(first, nodes.field_list):
        document.remove(first)
        for field in first.children:
            name, body = field.children
            meta[name.astext().lower()] = body.astext()
    return meta


def _plain_text(source: str) -> str:
    """The paragraphs of a page that cannot be parsed, as text without markup."""
    paragraphs = (escape_text(paragraph).strip() for paragraph in re.split(r"\n\s*\n", source))
    return "\n\n".join(escape_line_start(paragraph) for paragraph in paragraphs if paragraph)
