"""Nothing that sees the text of a reader, a page or a model needs more than linear time.

Each regular expression of the service is fed its own pump strings (`tests.pumps`), and each function that scans
foreign text is fed those of a table. Only CPU time counts, and only its growth.
"""

import ast
import contextlib
import gc
import importlib
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import pytest

from assistant.answering import follow_ups, prompts, small_talk, translations
from assistant.answering.question import Context, Question, Turn
from assistant.answering.quoting import quotes
from assistant.answering.refusals.detector import RefusalDetector
from assistant.citations import addresses, evidence
from assistant.citations.link_checker import CitationChecker
from assistant.upstream.loop_detector import LoopDetector
from docsite.core import paths
from docsite.core.access.readers import normalize_groups
from docsite.core.redaction import redact
from docsite.core.unicode.addresses import urljoin, urlsplit
from docsite.core.unicode.normalization import Form, normalize, remove_accents, to_ascii
from docsite.core.unicode.template_filters import truncatechars
from search.hits import Hit
from search.query_log.folding import fold
from search.retrieval import excerpts, links, parsing
from search.text import analysis, sections
from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import plain
from search.text.terms import Marks
from search.text.vocabulary import Vocabulary
from tests.processes import ROOT
from tests.pumps import pumps
from tests.variants import first_of

pytestmark = pytest.mark.slow

SHORT, LONG = 1_000, 4_000  # characters
NOTICEABLE = 0.0005  # seconds of CPU time; what takes less for a short text is fast enough
MAX_SHORT = 0.1  # seconds of CPU time that a short text may take, however little a long one adds
TIME_LIMIT = 3.0  # seconds of CPU time, after which a measurement ends
MAX_GROWTH = 9.0  # times the time, for four times the text: linear is 4, quadratic is 16
CLEAR_GROWTH = 6.0  # below it, one measurement is enough
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}

# Patterns that see short texts only: their length, and who sees to it.
BOUNDED = {
    "analytics/audience/clients.py _BROWSERS": (512, "describe_client"),
    "assistant/citations/source_lists.py _SOURCE_LIST": (150, "find_heading"),
    "assistant/citations/source_lists.py _PERHAPS_SOURCE_LIST": (150, "find_heading"),
    "assistant/upstream/text_filter.py _PERHAPS_CALL": (100, "_count_waiting"),
    "search/text/analysis.py _CODE": (257, "code_names"),
    "search/sources/html/__init__.py _SUFFIX": (1_000, "read_html"),
    "search/sources/markdown/includes.py _IMPORT": (1_000, "_match"),
    "search/sources/markdown/includes.py _VITEPRESS_PART": (1_000, "_match"),
    "search/sources/markdown/includes.py _WITH_LINES": (1_000, "_match"),
    "search/sources/rst/objects.py _PYTHON": (5_000, "parse_signature, whose scope is charged for it"),
    "search/sources/rst/site.py _MARKUP": (500, "strip_markup"),
}
MAX_BOUNDED = 2.0  # seconds of CPU time for the longest text that such a pattern sees


class TooSlow(Exception):
    """A run took so long that it was ended."""


def cpu_time(run: Callable[[], Any], limit: float = TIME_LIMIT) -> float:
    """The CPU time of a call in seconds; the limit if it takes longer.

    Of this thread: beside the timer, the time of the process goes on by whole ticks of the system, of up to 10 ms.
    """

    def stop(*_: Any) -> None:
        raise TooSlow

    previous = signal.signal(signal.SIGPROF, stop)
    gc.disable()  # a collection takes longer the more objects other tests have left
    began = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        run()
    except TooSlow:
        return limit
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
        gc.enable()
    return time.thread_time() - began


def is_linear(run: Callable[[str], Any], prefix: str, piece: str, suffix: str) -> bool:
    """Whether four times the text takes about four times as long. If it seems not to, both are measured again.

    A short text that takes long is not linear either: a part that is repeated a few times, in a great many ways.
    """

    def measure(length: int) -> float:
        text = prefix + piece * (length // len(piece)) + suffix
        return cpu_time(lambda: run(text))

    first = measure(SHORT)
    if first < NOTICEABLE or (first < MAX_SHORT and measure(LONG) < first * CLEAR_GROWTH):
        return True
    for repetitions in (1, 2, 2, 2):  # another process may disturb one of them
        short = min(measure(SHORT) for _ in range(repetitions + 1))
        if short > MAX_SHORT:
            return False
        long = min(measure(LONG) for _ in range(repetitions))
        if long < max(short, NOTICEABLE) * MAX_GROWTH:
            return True
        if measure(4 * LONG) < min(long * MAX_GROWTH, TIME_LIMIT):  # a step, such as more text than fits a section
            return True
    return False


@cache
def patterns(package: str) -> list[tuple[str, re.Pattern[Any], set[str]]]:
    """The patterns of a package by name, with the methods that are called on each."""
    return list(_find_patterns(package))


def _find_patterns(package: str) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    for file in sorted((ROOT / package).rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if "/migrations/" in name or name.endswith("/mkdocs_plugin/plugin.py"):  # it runs in MkDocs
            continue
        source = file.read_text()
        module = importlib.import_module(name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
        for variable, value in vars(module).items():
            is_here = re.search(
                rf"^{re.escape(variable)}\b[^=\n]*=|^_\w+, {re.escape(variable)} =", source, re.MULTILINE
            )
            for pattern in _patterns_in(value) if is_here else ():
                used = METHODS & set(re.findall(rf"\b{variable}\.(\w+)", source))
                used |= {"match"} if f"_match({variable}, " in source else set()
                yield f"{name} {variable}", pattern, used or {"match", "search"}
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[ast.Constant(value=text), *_]
                ):
                    if method in METHODS:
                        yield f"{name}:{node.lineno}", re.compile(text), {method}


def _patterns_in(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _patterns_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        yield from _patterns_in(list(value.values()), depth - 1)


def _runs(pattern: re.Pattern[Any], methods: set[str]) -> list[Callable[[str], Any]]:
    """What a pattern does with a text: match at its beginning, match all of it, or find matches anywhere."""
    binary = isinstance(pattern.pattern, bytes)
    kinds = [
        ({"match"}, pattern.match),
        ({"fullmatch"}, pattern.fullmatch),
        (METHODS - {"match", "fullmatch"}, lambda text: deque(pattern.finditer(text), maxlen=0)),
    ]
    return [
        (lambda text, run=run: run(text.encode("utf-8") if binary else text))  # type: ignore[misc]
        for names, run in kinds
        if names & methods
    ]


@pytest.mark.matrix
@pytest.mark.parametrize("suffix", ["\x01", ""])  # the first fits few patterns
@pytest.mark.parametrize("package", ["assistant", "search", "docsite", "analytics", "search/sources"])
def test_patterns(package, suffix):
    slow = []
    for name, pattern, methods in patterns(package):
        if package == "search" and name.startswith("search/sources/"):
            continue
        bound = BOUNDED.get(name, (0, ""))[0]
        for prefix, piece in pumps(pattern):
            for run in _runs(pattern, methods):
                if bound:
                    text = (prefix + piece * bound)[:bound] + suffix
                    is_fast = cpu_time(lambda run=run, text=text: run(text)) < MAX_BOUNDED
                else:
                    is_fast = is_linear(run, prefix, piece, suffix)
                if not is_fast:
                    slow.append((name, prefix, piece, suffix))
    assert not slow


@pytest.mark.matrix
def test_bounded_patterns_exist():
    names = {name for package in ("analytics", "assistant", "search") for name, _, _ in patterns(package)}
    assert set(BOUNDED) <= names


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("pattern", "method"),
    first_of(
        [
            (r"<(?=\s*/?\s*question\b)", "findall"),  # as it once was in the prompts
            (r"[\w−]{1,26}(?:\s?[-−+*/·]\s?[\w−]{1,26}){1,4}", "fullmatch"),  # of raised texts, with other numbers
        ],
        1,
    ),
)
def test_a_pattern_that_is_not_linear_is_found(pattern, method):
    run = getattr(re.compile(pattern), method)
    assert not all(is_linear(run, *pump, "\x01") for pump in pumps(re.compile(pattern)))


HIT = Hit(
    path="/install", url="https://docs.example/install", title="Install", section="With pip", breadcrumb=("Install",),
    body="Install acme with pip, see https://docs.example/pip for 42 ways.", excerpt="Install acme", score=0.5,
)  # fmt: skip
VOCABULARY = Vocabulary(10, {"instal": 3, "acm": 2}, {"install": 3, "acme": 2})


def cite(text: str, size: int) -> None:
    """Check an answer that comes in pieces of that size."""
    citations = CitationChecker([HIT], "install acme")
    for at in range(0, len(text), size):
        list(citations.feed(text[at : at + size]))
    list(citations.end())


def detect_refusal(text: str) -> None:
    detector = RefusalDetector(CitationChecker([HIT], "install acme"))
    for at in range(0, len(text), 7):
        list(detector.feed(text[at : at + 7]))
    list(detector.end())


def find_repetition(text: str) -> None:
    guard = LoopDetector()
    for at in range(0, len(text), 7):
        guard.feed(text[at : at + 7])


def quote(text: str) -> None:
    for part in sections.split(text)[:2]:
        hit = replace(HIT, body=part.body)
        quote = quotes.choose_quote("install acme", hit, 80, 20)
        quotes.find_complete_sentence("install acme", hit, quote)


def find_evidence(text: str) -> None:
    passage = evidence.Passage(replace(HIT, body=text, text=text))
    passage.find_objection("install 42 parcels")
    passage.best_sentence("install acme", "how?")


def split_addresses(text: str) -> None:
    for address in (text, f"//{text}", f"http://a{text}", f"https://a@{text}:1/b?c"):
        with contextlib.suppress(ValueError):
            urljoin("https://docs.example/a", address)
            urlsplit(address)


def normalize_names(text: str) -> None:
    with contextlib.suppress(ValueError):
        normalize_groups([text])


TURNS = [Turn("user", "How do I install acme?"), Turn("assistant", "With pip.")]
SCANNERS: dict[str, Callable[[str], Any]] = {
    # of a reader's text
    "parse a query": lambda text: parsing.parse(text, VOCABULARY),
    "parse a context": lambda text: parsing.parse("explain this", VOCABULARY, context=[text]),
    "prompt of a question": lambda text: prompts.build(Question(text, client_history=[Turn("user", text)]), [HIT], []),
    "prompt of a context": lambda text: prompts.build(Question("x", context=[Context(text, text)]), [HIT], []),
    "previous answer": lambda text: prompts.build(Question("x"), [HIT], [Turn("assistant", text)]),
    "small talk": lambda text: (small_talk.recognise(text), small_talk.is_no_question(text)),
    "language": evidence.detect_language,
    "follow-up": lambda text: follow_ups.add_previous_questions(Question(text), [Turn("user", text), *TURNS]),
    "path": paths.normalize,
    "escape": translations.escape_markdown,
    "redact": redact,
    "normalize": lambda text: [normalize(form, text) for form in get_args(Form)],
    "fold": fold,
    "remove accents": remove_accents,
    "ASCII": to_ascii,
    "groups": normalize_names,
    "addresses of others": split_addresses,
    "beginning": lambda text: truncatechars(text, 100),
    # of a page
    "clean": clean,
    "split": sections.split,
    "plain": plain,
    "terms": analysis.terms,
    "names": analysis.names_of,
    "code names": analysis.code_names,
    "links": lambda text: list(links.links(text)),
    "addresses": lambda text: addresses.AllowedAddresses([replace(HIT, body=text)], []).look_up("https://a.example"),
    "excerpt": lambda text: excerpts.build_excerpt(text, excerpts.Highlighter(Marks(frozenset(["instal"])))),
    "quote": quote,
    "evidence": find_evidence,
    "fragment": lambda text: evidence.Passage(replace(HIT, body=text, text=text)).page.build_fragment("with pip"),
    # of a model
    "answer in one piece": lambda text: cite(text, len(text)),
    "answer in small pieces": lambda text: cite(text, 7),
    "refusal": detect_refusal,
    "address": addresses.AllowedAddresses([HIT], []).look_up,
    "end of an address": addresses.trim,
    "claim": evidence.extract_claim,
    "repetition": lambda text: LoopDetector().feed(text),
    "repetition in small pieces": find_repetition,
}  # fmt: skip
PUMPS = [
    "a", "A", "0", "_", "-", ".", "$", " ", "\n", "\t", "`", "~", "*", "[", "]", "(", ")", "<", "&",
    "\\", "|", "!", "a.", "a-", "a_", "aA", "0a", "a$", " \n", "x\n", "`a``", "``a`", "**", "*a",
    "**a ", "_a_ ", "[](", "[a](", "[a]: ", "![](", "()", "[a](b) ", "[1]", "[1, 2] ", "[^a]", "< ",
    "<a ", "<a>", "</a>", "<!--", "<script>", "<a href='", "&#", "\\|", "|-", "| a |\n", "|-|-|\n",
    "- ", "- a\n", "  - ", "> ", "# ", "#a\n", "1. ", "===\n", "```\n", "~~~\n", "```suggestions\n",
    "!!! note\n", "=== \"a\"\n", "::: a\n", "{%", "{{", "{#a}", "a:", "http://", "https://a.b/",
    "https://a!", "https://a)", "www.", "www.a.", "a@", "@a", "a@a.", "mailto:", "a! ", "A. ", "。",
    "あ", "é", "e\u0301", "\u0316\u0301", "\u0f73\u0f75", "\ufdfa", "\u3300",
    "\"a", "a'", "0,", "1.000", "a+", "--a ", "a(", "NO_ANSWER ", "【", "【1】",
    "a;", "a, ", " and ", "a/", "//", "\r", "DE89 ", "DE89 3704 ", "4111 ", "8.8.8.8 ", "2a00:", "sk-a",
]  # fmt: skip


@pytest.mark.matrix
@pytest.mark.parametrize("scanner", SCANNERS)
def test_scanners(scanner):
    run = SCANNERS[scanner]
    assert [piece for piece in PUMPS if not is_linear(run, "", piece, "x")] == []
