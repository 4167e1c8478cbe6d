"""Reads tool calls that a model wrote as text, in the dialects of models and servers.

{"name": "search", "arguments": {"query": "pip"}}           Hermes, Qwen; `parameters` in Llama's
[{"name": "search", "arguments": {"query": "pip"}}]         Mistral, behind [TOOL_CALLS]
search[ARGS]{"query": "pip"}                                Mistral, later
<function=search><parameter=query>pip</parameter>…          Qwen's coder
<invoke name="search"><parameter name="query">pip…          MiniMax, and models that imitate Claude
[search(query="pip")]                                       Llama 4 and others, like Python
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")
_DECODER = json.JSONDecoder()
_PYTHON = re.compile(
    r"\[\w++\(\w++\s*+=(?:[^\"'\\)]++|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\)(?!\])|\\.)*+\)\]", re.DOTALL
)  # a bracket in a string does not end it
_FENCE = re.compile(r"```\w*+")
_XML = re.compile(r"<(?:\w+:)?(function|invoke)[= ](?:name=)?[\"']?(\w+)[\"']?>(.*?)(?:</(?:\w+:)?\1>|\Z)", re.DOTALL)
_PARAMETER = re.compile(
    r"<(?:\w+:)?parameter[= ](?:name=)?[\"']?(\w++)[^<>]*+>(.*?)(?:</(?:\w+:)?parameter>|\Z)", re.DOTALL
)
_NAMED = re.compile(r"(?:functions\.)?(\w+)(?:\[ARGS\]|\s*+:?\s*+(?=\{))(\{.*)", re.DOTALL)


def parse(text: str, *, is_alone: bool = False) -> Iterator[tuple[str, Any]]:
    """The names and arguments of the calls in a text, which may go on behind them unless it must be a call alone.

    None if it is no call. Arguments may be of any JSON type.
    """
    text = text.strip()
    if fence := _FENCE.match(text):
        text = text[fence.end() :].removesuffix("```").strip()
    if not is_alone:
        text = _cut_behind_call(text)
    if xml := [*_XML.finditer(text)]:
        for call in xml:
            yield call[2], {name: value.strip() for name, value in _PARAMETER.findall(call[3])} or load(call[3])
        return
    if named := _NAMED.fullmatch(text):
        yield named[1], load(named[2])
        return
    value = load(text)
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and (found := _read_object(item)):
            yield found
    if value is None:
        yield from _parse_python(text)


def _read_object(item: dict[str, Any]) -> tuple[str, Any] | None:
    """A call as a JSON object, perhaps inside another: `{"function": {"name": …}}`."""
    inner = item.get("function")
    if isinstance(inner, dict):
        item = inner
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), "")
    arguments: Any = next((item[key] for key in _ARGUMENTS if key in item), {})
    if not name or ("name" not in item and not any(key in item for key in _ARGUMENTS)):
        return None
    return name, load(arguments) if isinstance(arguments, str) else arguments


def _parse_python(text: str) -> Iterator[tuple[str, Any]]:
    """Calls as Python writes them, with constants as keyword arguments."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for call in tree.elts if isinstance(tree, ast.List) else [tree]:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            constants = {each.arg: each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)}
            yield call.func.id, constants


def _cut_behind_call(text: str) -> str:
    """The JSON value, or the list of Python's calls, at the beginning of a text; another text as it is."""
    if python := _PYTHON.match(text):
        return python[0]
    try:
        return text[: _DECODER.raw_decode(text)[1]]
    except (ValueError, RecursionError):
        return text


def load(text: str) -> Any:
    """A JSON value; None for a text that is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
