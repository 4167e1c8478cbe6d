"""Takes out of a model's text what is not its answer: thoughts, tool calls, and control tokens of its template.

    <think>Hm.</think>Use pip.                        ->  "Use pip."
    <|channel|>analysis Hm.<|channel|>final Use pip.  ->  "Use pip."
    Let me search. <tool_call>{…}</tool_call>         ->  "Let me search. ", and a call
    Use pip.<|im_end|>                                ->  "Use pip."

Code is the answer's own: what stands between backticks stays as it is, and so does what only looked like a call. An
answer that begins with a block of code named `markdown`, or is a JSON object with a single text, is that text.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from assistant.upstream import written_calls

_CHUNK = 4_096  # a long piece costs no more than many short ones
_MAX_TAG = 100  # characters of a tag that wait for its end
_MAX_CALL = 16 * 1024  # characters of a tool call, and of an answer as JSON
_THINKING = ["think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad"]
_CALLING = ["tool_call", "tool_calls", "function_call", "function_calls", "tool_code", "tool_use", "invoke"]
_SPACE = "(?:[a-z]{2,20}:)?"  # a namespace of XML, as MiniMax has


class _Span(NamedTuple):
    """What is taken out: from an opening to a closing pattern, in which `{}` stands for the name of the opening tag."""

    opening: str
    closing: str
    is_call: bool = False


_SPANS = (
    _Span(rf"<({'|'.join(_THINKING)})>", "</{}>"),
    _Span(r"\[(think)\]", r"\[/{}\]"),  # Magistral
    _Span("◁(think)▷", "◁/{}▷"),  # Kimi
    _Span(r"<\|channel\|>\s?(?:analysis|commentary)\b", r"<\|channel\|>\s?final(?:<\|message\|>)?"),  # gpt-oss
    _Span(rf"<{_SPACE}({'|'.join(_CALLING)})\b[^<>]{{0,80}}>", f"</{_SPACE}{{}}>", True),  # Hermes, Qwen, MiniMax, …
    _Span(r"<(function)[= ][^<>]{1,80}>", "</{}>", True),  # Llama
    _Span(r"<\|python_tag\|>", r"<\|eom_id\|>|<\|eot_id\|>", True),  # Llama
    _Span(r"\[tool_calls\]", "</s>", True),  # Mistral
    _Span(  # DeepSeek and Kimi
        r"<[|｜]tool[▁_]calls?[▁_](?:section[▁_])?begin[|｜]>",
        r"<[|｜]tool[▁_]calls[▁_](?:section[▁_])?end[|｜]>",
        True,
    ),
)
_END_OF_THOUGHTS = re.compile(rf"</(?:{'|'.join(_THINKING)})>|\[/think\]|◁/think▷", re.IGNORECASE)
_REST = _Span("", "(?!)", True)  # a call without tags, up to the end of the text
_TURN = r"<\|(?:im_)?start\|>|<\|start_header_id\|>|<start_of_turn>"  # the name of who speaks may follow
# Beside them: closing tags that nothing opens, and control tokens.
_ALONE = (
    rf"</{_SPACE}(?:{'|'.join((*_THINKING, *_CALLING, 'function'))})>|\[/think\]|◁/think▷|</?s>|<end_of_turn>"
    rf"|<[be]os>|\[/?inst\]|(?:{_TURN})(?:\s?(?:assistant|model)\b)?|<\|channel\|>\s?final"
    r"|<[|｜][^<>|｜\s]{1,40}[|｜]>"
)
_TOOLS = ("search", "read_page")  # as `assistant.answering.tools` names them
_CALL_KEYS = ("name", "tool", "tool_name", "function", "action", "type")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")
_CALL = (  # with its arguments, so that it is one wherever it stands
    r"[\[{]\s*+(?:\{\s*+)?(?:\"type\"\s*+:\s*+\"function\"\s*+,\s*+)?(?:\"function\"\s*+:\s*+\{\s*+)?"
    rf"\"(?:{'|'.join(_CALL_KEYS)})\"\s*+:\s*+\"(?:{'|'.join(_TOOLS)})\"\s*+,\s*+\"(?:{'|'.join(_ARGUMENT_KEYS)})\""
    rf"|\[(?:{'|'.join(_TOOLS)})\(\w{{1,20}}=[\"']"
)
_PERHAPS_CALL = re.compile(r"[\[{](?:[\s{,:]|\"\w*+\"?)*+\Z|\[\w{1,20}\(?\w{0,20}=?\Z")
_TAKEN_OUT = re.compile(
    "|".join(f"(?P<s{number}>{re.sub('[(](?![?])', '(?:', span.opening)})" for number, span in enumerate(_SPANS))
    + f"|(?P<call>{_CALL})|{_ALONE}",
    re.IGNORECASE,
)
_TAG_STARTS = (
    *(f"<{slash}{name}" for name in (*_THINKING, *_CALLING, "function") for slash in ("", "/")),
    *("[think]", "[/think]", "◁think▷", "◁/think▷", "[tool_calls]", "[inst]", "[/inst]", "<s>", "</s>"),
    *("<bos>", "<eos>", "<|", "<｜", "<start_of_turn>", "<end_of_turn>"),
)
_TAG_SIGN = re.compile(r"[<\[◁]")
_NAMESPACE = re.compile(r"\A(</?)[a-z]{2,20}:")
_BEGINS = re.compile(r"[<\[{◁]")
_NEEDS_A_LOOK = re.compile(r"[<\[{◁`\n]")  # a text without these can begin nothing that is taken out
_TICKS = re.compile(r"`+")
_WANTS_NAME = re.compile(rf"(?:<\|channel\|>|{_TURN})\s?\w*\Z", re.IGNORECASE)
_MAY_GO_ON = re.compile(rf"{_WANTS_NAME.pattern}|</?[a-z]{{1,20}}:?\Z", re.IGNORECASE)
_LINE_MARKS = r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
_FENCE = re.compile(rf"{_LINE_MARKS}(`{{3,}}|~{{3,}})([^\n]*)")
_PERHAPS_FENCE = re.compile(rf"{_LINE_MARKS}(?:[-*+]|\d{{0,9}}[.)]?|`*|~*)")
_SURE_CALL = re.compile(rf"(?:```\w*+\s*+)?(?:{_CALL})", re.IGNORECASE)
_ALONE_ONLY = re.compile(_ALONE, re.IGNORECASE)
_MAY_BE_ANSWER = ("reasoning", "reflection", "scratchpad")  # elements of documents, too
_CALL_LINE = re.compile(
    r"(?:```\w*+\s*+)?[\[{\s]*+"
    rf"(?:\"(?:{'|'.join(_CALL_KEYS)})\"\s*+:[{{\s]*+(?:\"name\"\s*+:\s*+)?\"(?:function\"|(?:{'|'.join(_TOOLS)})\")"
    rf"|(?<=\[)(?:{'|'.join(_TOOLS)})\()"
)
_LINE_START = re.compile(r"(?:```(?:json|tool_call|tool_code|)\s*+)?[\[{\s]*+", re.IGNORECASE)
_KEY = re.compile(r'"(\w*)("?)')
_FENCES = ("```markdown\n", "```md\n")
_ANSWER_KEYS = ["answer", "response", "text", "content", "message", "output", "result", "reply", "final_answer"]


class TextFilter:
    """Filters the pieces of one text, which may be cut anywhere.

    Some servers put the tag that opens the thoughts into the prompt, so the text has only the end of the thoughts, and
    the answer behind it. It is seen too late; then `closed_unopened` says so, and with `starts_in_thoughts` the next
    texts are filtered.
    """

    def __init__(self, *, starts_in_thoughts: bool = False) -> None:
        self.closed_unopened = False
        self._starts_in_thoughts = starts_in_thoughts
        self._thoughts_end = False  # of thoughts that nothing opened
        self._is_behind_thoughts = False
        self._calls: list[str] = []
        self._held = ""  # text that is not decided yet
        # What the text is in.
        self._inside: _Span | None = None
        self._opening = self._closing = _TICKS  # of it
        self._depth = 0
        self._taken = ""  # the text of a call
        self._raw = ""  # what was taken out since the opening, to be written back if it was none
        self._may_be_answer = False
        self._spare: str | None = None  # the text since a nested span ended; an answer, if the outer one never ends
        # The answer so far.
        self._has_begun = False
        self._has_bracket = False  # and so perhaps a citation
        self._was_taken = False  # something was, perhaps with blank lines around it
        self._is_wrapped = False  # in a block of code named markdown
        self._is_json = False
        self._fence = ""  # the marks that opened a block of code
        self._line = ""  # what was written of this line
        self._at_line_start = True
        if starts_in_thoughts:
            self._inside, self._depth, self._spare = _SPANS[0], 1, ""  # without an end it is an answer
            self._opening, self._closing = re.compile("(?!)"), _END_OF_THOUGHTS

    @property
    def is_hiding(self) -> bool:
        """Whether the model is writing what is not shown, or not yet."""
        return bool(self._inside or self._is_json)

    def passes(self, text: str) -> bool:
        """Whether a piece is the answer's as it is, so that it need not be fed."""
        is_decided = self.closed_unopened or not self._thoughts_end
        is_inside_line = self._has_begun and is_decided and not (self._held or self._inside or self._at_line_start)
        return is_inside_line and not _NEEDS_A_LOOK.search(text)

    def feed(self, text: str) -> str:
        """The part of the answer that a piece of text completes."""
        written: list[str] = []
        for at in range(0, len(text), _CHUNK):
            self._held += text[at : at + _CHUNK]
            written += self._filter(is_final=False)
        return "".join(written)

    def end(self) -> str:
        """The rest of the answer. The text ends here, and with it what nothing closes."""
        written = "".join(self._filter(is_final=True))
        if self._inside:
            self._take(self._held)
            written += self._close(is_closed=False) or self._spare or ""
        elif self._is_json:
            written += _unwrap_json(self._held)
        elif self._starts_in_thoughts and not self._has_begun:
            written += self._spare or ""
        self._held, self._spare = "", None
        return written

    def take_calls(self) -> list[str]:
        """Remove and return the texts of the tool calls so far."""
        calls, self._calls = self._calls, []
        return calls

    def _filter(self, is_final: bool) -> Iterator[str]:
        """Decide as much of the held text as can be decided."""
        before = ""
        while self._held and self._held != before:
            before = self._held
            if self._inside:
                self._leave()
            elif self._can_go_on(is_final):
                yield self._write(self._next_piece(is_final))

    # ---- Inside of what is taken out. ----

    def _enter(self, span: _Span, tag: str, *, follows_text: bool = False) -> None:
        self._inside, self._depth, self._spare = span, 1, None
        found = re.match(span.opening, tag, re.IGNORECASE)
        name = found[1] if found and found.re.groups else ""
        self._opening = re.compile(f"<{name}>" if name and not span.is_call else "(?!)", re.IGNORECASE)
        self._closing = re.compile(span.closing.replace("{}", name), re.IGNORECASE)
        self._taken = tag if name.lower() in ("function", "invoke") else ""
        self._raw = tag
        self._may_be_answer = (self._has_begun or follows_text) and name.lower() in _MAY_BE_ANSWER

    def _leave(self) -> None:
        """Take the text up to the closing tag, or what is decided of it."""
        opening, closing = self._opening.search(self._held), self._closing.search(self._held)
        if opening and not (closing and closing.start() < opening.start()):
            self._depth += 1
            self._take(self._held[: opening.end()])
            self._held = self._held[opening.end() :]
            return
        if not closing:
            self._take(self._held[:-_MAX_TAG])
            self._held = self._held[-_MAX_TAG:]
            return
        self._depth -= 1
        self._take(self._held[: closing.start()])
        self._held = self._held[closing.end() :]
        if self._depth:
            self._spare = self._spare or ""
            return
        self._thoughts_end = self._is_behind_thoughts = self._starts_in_thoughts
        self._close(is_closed=True)

    def _take(self, text: str) -> None:
        self._raw = (self._raw + text)[: 2 * _MAX_CALL]
        if self._inside and self._inside.is_call:
            self._taken = (self._taken + text)[:_MAX_CALL]
        if self._spare is not None:
            self._spare += text

    def _close(self, *, is_closed: bool) -> str:
        """End what is taken out. Returns it if nothing closed it, and it was the answer's own."""
        span, self._inside, self._was_taken = self._inside, None, True
        if span is None or not span.is_call:
            return self._raw if self._may_be_answer and not is_closed else ""
        # What stands behind a call is made up. But an answer that has cited something may show one.
        names = {name for name, _ in written_calls.parse(self._taken, is_alone=self._has_bracket)}
        if names & {*_TOOLS} or (names and is_closed):
            self._calls.append(self._taken)
            return ""
        if span is _REST:
            return self._raw if self._has_bracket or not _SURE_CALL.match(self._raw) else ""
        return "" if is_closed or re.search(r"[{(<\[]", self._raw[1:]) else self._raw

    # ---- Outside. ----

    def _can_go_on(self, is_final: bool) -> bool:
        """Take a wrapper around the answer off. False if more text must come before the next piece is decided."""
        if not self._has_begun and not self._begins(is_final):
            return False
        if not self._at_line_start or self._fence:
            return True
        if self._is_wrapped and self._held.lstrip(" ").startswith("`"):
            line, newline, rest = self._held.partition("\n")
            if line.strip() == "```" and (newline or is_final):
                self._held, self._is_wrapped = rest, False
                return bool(rest)
            if "```".startswith(line.strip()) and not newline and not is_final:
                return False
        return is_final or not _may_become_call(self._held)

    def _begins(self, is_final: bool) -> bool:
        """Whether the beginning is decided."""
        start = self._held.lstrip()
        if not start:
            self._held = self._held[-_MAX_TAG:]
            return is_final
        if _TAG_SIGN.match(start):
            self._held = start
        for fence in _FENCES:
            if start.lower().startswith(fence):
                self._held, self._is_wrapped = start[len(fence) :], True
                return bool(self._held)
            if fence.startswith(start.lower()) and not is_final:
                return False
        if not self._is_json:
            key = _KEY.match(start.removeprefix("{").lstrip() or '"') if start[0] == "{" else None
            if not key or (key[2] and key[1] not in _ANSWER_KEYS):
                return True
            self._is_json = bool(key[2])
            return is_final and not self._is_json
        self._is_json = len(self._held) <= _MAX_CALL
        return not self._is_json

    def _next_piece(self, is_final: bool) -> str:
        """Take the next piece off the held text: a line, or what of it is decided."""
        if self._at_line_start and not self._fence and _CALL_LINE.match(self._held):
            self._enter(_REST, "")
            return ""
        line, newline, _ = self._held.partition("\n")
        line += newline
        is_complete = bool(newline) or is_final
        if self._at_line_start and (piece := self._take_fence(line, is_complete)) is not None:
            return piece
        waiting = 0 if is_complete else self._count_waiting(line)
        for found in _TAKEN_OUT.finditer(line) if _BEGINS.search(line) and not self._fence else ():
            if not is_final and _WANTS_NAME.match(line, found.start()):
                continue
            if (is_code := self._is_code(line, found.start(), is_complete)) is None:
                waiting = len(line) - found.start()
                break
            if is_code:
                continue
            if found["call"]:
                self._held = self._held[found.start() :]
                self._enter(_REST, "")
                return line[: found.start()]
            self._held, self._was_taken = self._held[found.end() :], True
            number = next((number for number in range(len(_SPANS)) if found[f"s{number}"]), None)
            self._thoughts_end = self._thoughts_end or bool(_END_OF_THOUGHTS.fullmatch(found[0]))
            if number is not None:
                self._enter(_SPANS[number], found[0], follows_text=bool(line[: found.start()].strip()))
            return line[: found.start()]
        size = len(line) - waiting
        self._held = self._held[size:]
        return line[:size]

    def _take_fence(self, line: str, is_complete: bool) -> str | None:
        """Take a line that opens or closes a block of code. Empty: more of it must come first. None: another line."""
        fence = _FENCE.match(line)
        if not is_complete:
            may_be = len(line) <= _MAX_TAG and (fence or _PERHAPS_FENCE.fullmatch(line))
            return "" if may_be else None
        if not fence or (fence[1][0] == "`" and "`" in fence[2]):
            return None
        if not self._fence:
            self._fence = fence[1]
        elif fence[1].startswith(self._fence) and not fence[2].strip():
            self._fence = ""
        self._held = self._held[len(line) :]
        return line

    def _count_waiting(self, line: str) -> int:
        """How many characters at the end of an unfinished line may be the beginning of something."""
        ticks = len(line) - len(line.rstrip("`"))
        if self._fence or ticks or not _BEGINS.search(line):
            return ticks if ticks < 3 else 0
        start = max(0, len(line) - _MAX_TAG)
        if call := _PERHAPS_CALL.search(line, start):
            return len(line) - call.start()
        for sign in _TAG_SIGN.finditer(line, start):
            tail = _NAMESPACE.sub(r"\1", line[sign.start() :].lower())
            is_tag = any(each.startswith(tail) or tail.startswith(each) for each in _TAG_STARTS)
            if (is_tag and not re.search(r"[>\]▷]", tail)) or _MAY_GO_ON.match(tail):
                return len(line) - sign.start()
        return 0

    def _is_code(self, line: str, at: int, is_complete: bool) -> bool | None:
        """Whether a place of the held line is in a code span. None: the rest of the line decides."""
        before, rest = self._line + line[:at], line[at:]
        opened = ""
        for run in _TICKS.findall(before):
            opened = "" if run == opened else opened or run
        if not opened:
            return False
        if opened in _TICKS.findall(rest if is_complete else rest.rstrip("`")):
            return True
        return None if not is_complete and len(rest) <= 2 * _MAX_TAG else False

    def _write(self, piece: str) -> str:
        """The next piece of the answer, which decides whether the text behind it is code."""
        if not self._has_begun and self._was_taken:
            piece = piece.lstrip()
        if not piece:
            return ""
        self._has_begun = True
        self.closed_unopened = self.closed_unopened or (self._is_behind_thoughts and not piece.isspace())
        self._is_behind_thoughts = self._thoughts_end
        self._has_bracket = self._has_bracket or "[" in piece
        self._at_line_start = piece.endswith("\n")
        self._line = "" if self._at_line_start else (self._line + piece)[-_CHUNK:]
        return piece


def _may_become_call(text: str) -> bool:
    """Whether a text at the beginning of a line may become a tool call."""
    if len(text) > _MAX_TAG or text[0] not in "`[{ \t":
        return False
    if "`" in text and any(f"```{name}".startswith(text.strip()) for name in ("json", "tool_call", "tool_code")):
        return True
    start = _LINE_START.match(text)
    rest = text[start.end() :] if start else ""
    if not start or not re.search(r"[\[{`]", start[0]) or (start[0].strip() == "```" and rest):
        return False
    if not rest:
        return True
    if key := _KEY.match(rest):
        return key[1] in _CALL_KEYS if key[2] else any(name.startswith(key[1]) for name in _CALL_KEYS)
    return start[0].endswith("[") and any(f"{name}(".startswith(rest) for name in _TOOLS)


def _unwrap_json(text: str) -> str:
    """The text in a JSON object that has nothing else; any other text as it is."""
    try:
        end = text.rfind("}") + 1  # control tokens may follow
        value = json.loads(text[:end] + _ALONE_ONLY.sub("", text[end:]))
    except (ValueError, RecursionError):
        return text
    texts = [*value.values()] if isinstance(value, dict) else []
    if len(texts) != 1 or not isinstance(texts[0], str):
        return text
    inner = TextFilter()
    return inner.feed(texts[0]) + inner.end()
