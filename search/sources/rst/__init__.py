"""reStructuredText to Markdown, as Sphinx understands it. Nothing is run; registries of docutils stay as they are."""

import logging
import re
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Parser, states
from docutils.transforms import Transformer, references

from search.sources.rst import directives, roles
from search.sources.rst.call import call_of
from search.sources.rst.scope import BLOCK, LIST, Scope, TooMuch, Work
from search.sources.rst.site import MOST_PARSED, MOST_WRITTEN, Site
from search.sources.rst.tables import parsers
from search.sources.rst.writer import Writer

LONGEST = 20_000  # characters of a paragraph that has markup; more is data
MOST_LABELS = 10  # of one section
MOST_FAILURES = 50  # marks that are never closed, in one paragraph
MOST_IN_VAIN = 10_000_000  # characters that may be searched for the ends of such marks

logger = logging.getLogger(__name__)

_QUIET = {
    "_disable_config": True,
    "auto_id_prefix": "id",  # as Sphinx has it
    "file_insertion_enabled": False,
    "halt_level": 5,
    "line_length_limit": 10**9,
    "raw_enabled": False,
    "report_level": 5,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "warning_stream": False,
}
_TRANSFORMS = (
    references.AnonymousHyperlinks,
    references.IndirectHyperlinks,
    references.Footnotes,
    references.ExternalTargets,
    references.InternalTargets,
)


@dataclass(frozen=True)
class Text:
    """A page in Markdown, and what it says of itself: `:nosearch:`, a description."""

    markdown: str
    meta: dict[str, str]


def read(source: str, site: Site | None = None, page: str = "index", level: int = 0, work: Work | None = None) -> Text:
    """A page, or with `level` what stands below a heading of that level, for which `work` is left. What is too long,
    takes too long, or is broken beyond reading, is its text as it stands. Never raises.
    """
    site, work = site or Site(), work or Work()
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    whole = "\n\n".join(filter(None, [site.prolog, source, site.epilog]))
    if len(whole) > MOST_PARSED:
        return Text(_as_it_stands(source), {})
    scope = Scope(site, page, work, highlight=site.highlight)
    try:
        document = _parsed(whole, scope)
        meta = {**_fields(document), **scope.meta}
        markdown = Writer(document, site, MOST_WRITTEN, level).markdown()
        if len(markdown) <= MOST_WRITTEN:
            return Text(markdown, meta)
        failure: Exception = TooMuch(f"{len(markdown)} characters")
    except Exception as raised:  # docutils asserts much, and raises what it likes: no page should be lost for that
        failure = raised
    if not work.failed:
        known = isinstance(failure, TooMuch | RecursionError)  # what only says that the page is too much
        logger.warning("%s: left as it stands: %r", page, failure, exc_info=None if known else failure)
    work.failed = True
    return Text(_as_it_stands(source), {})


def _parsed(source: str, scope: Scope) -> nodes.document:
    document = utils.new_document(scope.page, _settings().copy())
    parser = Parser(inliner=_Inliner(scope))
    parser.state_classes = _STATES
    parser.parse(source, document)
    document.transformer = Transformer(document)
    for transform in _TRANSFORMS:
        transform(document).apply()
    _label_sections(document)
    return document


def _label_sections(document: nodes.document) -> None:
    """Give each section the ids of the labels before it, the nearest first, as Sphinx does."""
    waiting: list[str] = []
    for node in document.findall():
        if isinstance(node, nodes.target) and not isinstance(node.parent, nodes.TextElement) and not node.children:
            if not any(name in node for name in ("refid", "refuri", "refname")):
                waiting = [*node["ids"], *waiting[:MOST_LABELS]]
                continue
        elif isinstance(node, nodes.section):
            node["ids"] += waiting
        elif isinstance(node, nodes.system_message):
            continue
        waiting = []


@cache
def _settings() -> Any:
    """Settings under which docutils reads no file and no configuration, and says nothing."""
    settings = frontend.get_default_settings(Parser)
    vars(settings).update(_QUIET)
    return settings


def _fields(document: nodes.document) -> dict[str, str]:
    """The field list at the top, which Sphinx takes for the page's metadata; it is taken out."""
    first = next((node for node in document.children if not isinstance(node, nodes.Invisible)), None)
    if not isinstance(first, nodes.field_list):
        return {}
    document.remove(first)
    fields = [field.children for field in first.children if len(field.children) == 2]
    return {name.astext().lower(): body.astext() for name, body in fields}


def _as_it_stands(source: str) -> str:
    """The text of a page that cannot be parsed, with its paragraphs."""
    paragraphs = re.split(r"\n\s*\n", source)
    return "\n\n".join(
        re.sub(r"([\\`*_\[\]<#{|~])", r"\\\1", " ".join(one.split())) for one in paragraphs if one.strip()
    )


class _Inliner(states.Inliner):
    """Roles as `rst.roles` has them; and an end to looking for marks that are never closed."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope
        self.patience = MOST_IN_VAIN
        self.failures = 0
        self.length = 0

    def parse(self, text: str, lineno: int, memo: Any, parent: nodes.Element) -> Any:
        if len(text) > LONGEST or self.patience < 0:
            return [nodes.Text(text)], []
        self.failures, self.length = 0, len(text)
        try:
            return super().parse(text, lineno, memo, parent)
        except _NotMarkup:
            return [nodes.Text(text)], []

    def problematic(self, text: str, rawsource: str, message: Any) -> nodes.problematic:
        """What was no markup stays text."""
        self.failures += 1
        self.patience -= self.length
        if self.failures > MOST_FAILURES:
            raise _NotMarkup
        return super().problematic(text, rawsource, message)  # which counts ids, as it does in Sphinx

    def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
        own = self.scope.roles
        name = role.lower()
        for _ in range(10):  # a page's own roles, which may build upon each other
            if name not in own:
                break
            name = own[name]
        if name == "raw":
            return [], []
        return roles.shown(name or self.scope.site.default_role or "cite", text, self.scope.site, self.scope.page), []


# docutils makes its patterns of strings that it looks for in the class itself
for _name, _value in vars(states.Inliner).items():
    if isinstance(_value, str) and not _name.startswith("__"):
        setattr(_Inliner, _name, _value)


class _NotMarkup(Exception):
    """A paragraph in which nearly every mark is none."""


_TRANSITIONS: dict[type, list[tuple[str, re.Pattern[str], str]]] = {}


class _State:
    """What our states do otherwise: directives are those of `rst.directives`, and work is counted."""

    transition_order: list[str]
    transitions: dict[str, tuple[re.Pattern[str], Any, str]]
    nested_sm_cache: list[Any] = []  # noqa: RUF012 - a place of our own, since docutils keeps its states there

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]  # of the state that this is mixed into
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def add_initial_transitions(self) -> None:
        """As docutils has them, but found once for each kind of state: it makes fifteen states for every list."""
        kind = type(self)
        if kind not in _TRANSITIONS:
            super().add_initial_transitions()  # type: ignore[misc]
            found = self.transitions
            _TRANSITIONS[kind] = [(name, found[name][0], found[name][2]) for name in self.transition_order]
        self.transition_order = [name for name, _, _ in _TRANSITIONS[kind]]
        self.transitions = {
            name: (pattern, getattr(self, name), following) for name, pattern, following in _TRANSITIONS[kind]
        }

    @property
    def work(self) -> Work:
        return self.memo.inliner.scope.work  # type: ignore[attr-defined, no-any-return]

    def nested_parse(self, block: Any, *arguments: Any, **named: Any) -> Any:
        self.work.spend(BLOCK + sum(map(len, block)) + len(block))
        return super().nested_parse(block, *arguments, **named)  # type: ignore[misc]

    def nested_list_parse(self, block: Any, *arguments: Any, **named: Any) -> Any:
        self.work.spend(LIST + len(block) // 4)
        return super().nested_list_parse(block, *arguments, **named)  # type: ignore[misc]

    def new_subsection(self, *arguments: Any) -> None:
        self.work.spend(2 * BLOCK)
        super().new_subsection(*arguments)  # type: ignore[misc]

    def table(self, isolate_function: Any, parser_class: Any) -> Any:
        return super().table(isolate_function, partial(parsers[parser_class], self.work))  # type: ignore[misc]

    def directive(self, match: re.Match[str], **presets: Any) -> tuple[list[nodes.Node], bool]:
        """A directive's nodes, and whether an empty line ended it."""
        machine = self.state_machine  # type: ignore[attr-defined]
        line = machine.abs_line_number()
        lines, _, offset, blank_finish = machine.get_first_known_indented(match.end(), strip_top=0)
        has_argument = bool(match.string[match.end() :].strip())
        state = cast(states.RSTState, self)
        call = call_of(match[1].lower(), state, state.memo.inliner.scope, line, lines, offset, has_argument)
        return directives.run(call), blank_finish or machine.is_next_line_blank()


def _explicit() -> Any:
    """The explicit markup of docutils, with our directives."""
    known = states.Body.explicit
    constructs = [
        (_State.directive if method is states.Body.directive else method, pattern)
        for method, pattern in known.constructs
    ]
    return type(known)(patterns=known.patterns, constructs=constructs)


_STATES: tuple[type[states.RSTState], ...] = tuple(
    type(state.__name__, (_State, state), {"explicit": _explicit()}) for state in states.state_classes
)
