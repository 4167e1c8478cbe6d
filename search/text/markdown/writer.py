"""Write text and code as Markdown. `search.text.markdown.reader` reads the same text again."""

import re

_SPACE = re.compile(r"[ \t\n\r\f\v\xa0\u2028\u2029]+")
# Control and zero-width characters, halves of surrogate pairs, and private characters that writers use as marks.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\u200b\u200c\u2060\ufeff\xad\ud800-\udfff\ue000-\ue004]")
_SPECIAL = re.compile(
    r"[\\`*\[\]]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|<(?=[a-zA-Z/!?])"
    r"|&(?=#?\w+;)"
    r"|~(?=~)|(?<=~)~"
    r"|\{(?=[\s{%:.#*!])"
    r"|:(?=[a-z][\w+-]*:)"
)
_BLOCK_START = re.compile(
    r"(?:[-+>](?=\s|$)|#{1,6}(?=\s|$)|={2,}|-{2,}|!{3}|\?{3}|/{3}|:{3}|~{3}|:(?=\s)|>|;?-+8<|\|)|(\d{1,9})([.)])(?=\s|$)"
)


def escape_text(text: str) -> str:
    """The text on one line, escaped so that neither Markdown nor a generator's dialect finds markup in it."""
    return _SPECIAL.sub(r"\\\g<0>", _SPACE.sub(" ", _INVISIBLE.sub("", text)))


def escape_line_start(line: str) -> str:
    """The line, escaped so that it does not begin a list, a heading or another block."""
    start = _BLOCK_START.match(line)
    if not start:
        return line
    number, end = start[1] or "", start.end(1) if start[1] else 0
    return f"{number}\\{line[end:]}"


def code_span(text: str) -> str:
    """A code span on one line, with enough backticks around it. Spaces around the code stay outside."""
    text = _SPACE.sub(" ", _INVISIBLE.sub("", text))
    code = text.strip()
    if not code:
        return text
    ticks = "`" * (max((len(run) for run in re.findall("`+", code)), default=0) + 1)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return text[: len(text) - len(text.lstrip())] + f"{ticks}{pad}{code}{pad}{ticks}" + text[len(text.rstrip()) :]
