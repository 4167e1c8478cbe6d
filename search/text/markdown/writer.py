"""Write text and code as Markdown. `search.text.markdown.reader` reads the same text again."""

import re

_POWER = re.compile(r"[-−+]?\d+(?:[.,/]\d+)?|[a-z]")
_SUM = re.compile(r"−?\w{1,20}(?:\s?[-−+*/·]\s?−?\w{1,20}){1,5}")
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


def superscript(text: str) -> str:
    """A raised text as it is written on one line: `^32` and `^(n-1)`. A mark such as `th` or `TM` stays as it is.

    >>> "2" + superscript("32")
    '2^32'
    """
    if _POWER.fullmatch(text):
        return f"^{text}"
    return f"^({text})" if _SUM.fullmatch(text) else text


def subscript(before: str, text: str) -> str:
    """A lowered text behind another one: `H2O` and `x1`, but `101_2` behind a digit."""
    return f"_{text}" if before[-1:].isdigit() and text[:1].isdigit() else text


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
