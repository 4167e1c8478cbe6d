"""markdown-it's block parser, where a rule is tried only on a line that it can match. The tokens are the same.

markdown-it tries a dozen rules on every line, and looks at every character in Python. That took half of an ingest.
"""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.parser_block import ParserBlock, RuleFuncBlockType
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock, lheading
from markdown_it.token import Token
from markdown_it.utils import EnvType

# The characters with which a line can begin that a rule matches. A rule that is missing here is tried on every line.
_FIRST: Final = {
    "table": "",
    "fence": "`~",
    "dialect": "!?=[:/<",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*+-0123456789",
    "heading": "#",
}
_INSIDE: Final = {"table": "|", "dialect": "<!--"}  # what lets a rule match a line, wherever it stands in the line
_LINE_END = re.compile(r"\r\n?")


class BlockParser(ParserBlock):
    """Parses with the rules that are active when it is made. An indented line is tried with the rule `code` alone."""

    ruler: "_Chains"

    def __init__(self, rules: Ruler[RuleFuncBlockType]) -> None:
        self.ruler = _Chains(rules)

    def parse(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> list[Token]:
        """The tokens of a text, added to those that are given."""
        state = _State(src, md, env, outTokens)
        self.tokenize(state, 0, state.lineMax)
        return state.tokens

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        """Add the tokens of some lines."""
        line, has_empty_lines = startLine, False
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            if state.level >= state.md.options.maxNesting:
                state.line = endLine
                break
            rules = self.ruler.code if state.is_code_block(line) else self.ruler.blocks.find(state, line)
            for rule in rules:
                if rule(state, line, endLine, False):
                    break
            state.tight = not has_empty_lines
            line = state.line
            if line - 1 < endLine and state.isEmpty(line - 1):
                has_empty_lines = True
            if line < endLine and state.isEmpty(line):
                has_empty_lines = True
                state.line = line = line + 1


def parse_blocks(parser: MarkdownIt, source: str) -> list[Token]:
    """The block tokens of a text, by a parser that has a BlockParser."""
    if "\r" in source:
        source = _LINE_END.sub("\n", source)
    return parser.block.parse(source.replace("\0", "\ufffd"), parser, {}, []) or []


def paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph, or a heading that is underlined, with its text. For a ruler without `lheading`."""
    return _find_paragraph(state, start, end) or _push_paragraph(state, start)


def bare_paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph as one token without its text, or a heading that is underlined."""
    if not _find_paragraph(state, start, end):
        state.push("paragraph", "p", 0).map = [start, state.line]
    return True


def _find_paragraph(state: StateBlock, start: int, end: int) -> bool:
    """Find the end of a paragraph, as `state.line`. True if it was an underlined heading instead."""
    before = state.parentType
    # A rule that interrupts may look further than to `end`, and then markdown-it's two rules differ.
    if end != state.lineMax and lheading(state, start, end, False):
        return True
    state.parentType = "paragraph"  # to stay so: markdown-it's `lheading` leaves it, and lists look at it
    (interrupts,) = state.md.block.ruler.getRules("paragraph")
    source, line = state.src, start + 1
    while line < state.lineMax:
        at, indent = state.bMarks[line] + state.tShift[line], state.sCount[line]
        if at >= state.eMarks[line]:
            break
        if indent - state.blkIndent <= 3:
            is_underline = source[at] in "=-" and not source[at : state.eMarks[line]].rstrip(" \t").strip(source[at])
            if is_underline and indent >= state.blkIndent and end == state.lineMax:
                state.parentType = before
                return lheading(state, start, end, False)
            if indent >= 0 and interrupts(state, line, state.lineMax, True):
                break
        line += 1
    state.line = line
    return False


def _push_paragraph(state: StateBlock, start: int) -> bool:
    lines = [start, state.line]
    content = mdTrim(state.getLines(start, state.line, state.blkIndent, False))
    state.push("paragraph_open", "p", 1).map = lines
    inline = state.push("inline", "", 0)
    inline.map, inline.content, inline.children = lines[:], content, []
    state.push("paragraph_close", "p", -1)
    return True


class _Chain:
    """The rules of a chain by the lines that they can match. It is a rule itself: whether one of them matches."""

    def __init__(self, rules: Sequence[tuple[str, RuleFuncBlockType]]) -> None:
        self._all = [rule for _, rule in rules]
        self._marks = [_INSIDE[name] for name, _ in rules if name in _INSIDE]
        self._others = [rule for name, rule in rules if name not in _FIRST]
        self._by_first = {
            first: [rule for name, rule in rules if first in _FIRST.get(name, first)]
            for name, _ in rules
            for first in _FIRST.get(name, "")
        }

    def find(self, state: StateBlock, line: int) -> Sequence[RuleFuncBlockType]:
        """The rules that can match a line."""
        at, end = state.bMarks[line] + state.tShift[line], state.eMarks[line]
        for mark in self._marks:
            if state.src.find(mark, at, end) >= 0:
                return self._all
        return self._by_first.get(state.src[at : at + 1], self._others)

    def __call__(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """Whether a rule matches."""
        for rule in self.find(state, start):  # noqa: SIM110  # a generator takes twice the time
            if rule(state, start, end, silent):
                return True
        return False


class _Chains(Ruler[RuleFuncBlockType]):
    """The rules of another ruler. A chain of rules that may interrupt a block is one rule."""

    def __init__(self, rules: Ruler[RuleFuncBlockType]) -> None:
        super().__init__()
        self._names = rules.get_active_rules()
        named = list(zip(self._names, rules.getRules(), strict=True))
        self.code = [rule for name, rule in named if name == "code"]
        self.blocks = _Chain([(name, rule) for name, rule in named if name != "code"])
        self._interrupting: dict[str, list[RuleFuncBlockType]] = {
            chain: [_Chain([(name, rule) for name, rule in named if rule in rules.getRules(chain)])]
            for chain in ("paragraph", "blockquote", "list")
        }

    def getRules(self, chainName: str = "") -> list[RuleFuncBlockType]:
        """The rules that may interrupt a block."""
        return self._interrupting[chainName]

    def get_active_rules(self) -> list[str]:
        """The names of all rules."""
        return self._names


class _State(StateBlock):
    """The lines of a text with their indentation, by line instead of by character."""

    def __init__(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> None:
        super().__init__("", md, env, tokens)
        self.src = src
        lines = src.split("\n")
        if not lines[-1].strip(" \t"):
            lines.pop()
        self.bMarks = [0, *accumulate(len(line) + 1 for line in lines)]
        self.eMarks = [start - 1 for start in self.bMarks[1:]]
        self.tShift = [len(line) - len(line.lstrip(" \t")) for line in lines]
        self.sCount = self.tShift[:]
        if "\t" in src:
            for number, line in enumerate(lines):
                if "\t" in line:
                    self.sCount[number] = len(line[: self.tShift[number]].expandtabs(4))
        self.bMarks[-1] = len(src)
        self.eMarks.append(len(src))
        self.tShift.append(0)
        self.sCount.append(0)
        self.bsCount = [0] * len(self.bMarks)
        self.lineMax = len(lines)

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:
        """The text of some lines, without so many columns of indentation."""
        pad = " " * indent
        pieces = []
        for line in range(begin, end):
            start, keeps_end = self.bMarks[line], keepLastLF or line + 1 < end
            if self.src.startswith(pad, start):
                pieces.append(self.src[start + indent : self.eMarks[line] + keeps_end])
            else:
                pieces.append(super().getLines(line, line + 1, indent, keeps_end))
        return "".join(pieces)
