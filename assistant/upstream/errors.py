"""What a model server's refusal means: what to change, whether to ask again, and which parameters to leave out.

Servers agree on statuses, more or less, but not on the shape of an error: an object, a text, a list of
either, validation errors of Pydantic, or one of these as JSON inside a text. So all of its words are searched.
"""

import contextlib
import json
import re
from collections.abc import Collection
from typing import Any

from assistant.upstream import UpstreamError

REPORTED = "the model server reported an error"

_MAX_DEPTH = 8
_MAX_MESSAGE = 300  # characters
_QUOTES = {"input", "ctx", "url"}  # keys under which an error repeats the request, or links to its explanation

LONG_PROMPT = (
    "The question with its passages is too long for the model. Give the model a larger context window where the server "
    "is started, or choose a model that has one."
)
WRONG_KEY = "Check the API key: OPENAI_API_KEY, or OPENAI_FALLBACK_API_KEY for the second model."
SLOW = (
    "A slow machine, or a reasoning model that hides its thoughts, needs more time: raise OPENAI_FIRST_TOKEN_SECONDS, "
    "OPENAI_BETWEEN_TOKENS_SECONDS or OPENAI_ANSWER_SECONDS."
)
ONLY_THOUGHTS = "The model spent all its tokens on its thoughts: raise OPENAI_MAX_TOKENS, or let it think less."
EMPTY = "The context window may be too small for the question with its passages. Look into the log of the server."
_QUOTA = "The account's rate limit or quota is used up. Wait, raise it at the provider, or set OPENAI_FALLBACK_MODEL."
_NAME = "Check the model's name (OPENAI_MODEL) and the base URL (OPENAI_BASE_URL), which for most servers ends in /v1."
_FAULT = "The fault is the server's own. Look into its log or at its status page."

_IS_LONG = re.compile(
    r"context.?(?:length|size|window)|maximum context|prompt is too long|tokens to keep|must be at least 1, got -",
    re.IGNORECASE,
)
_IS_BUSY = re.compile(r"overloaded|temporarily unavailable|try again", re.IGNORECASE)  # an event has no status
_CLEAR = {401, 402, 404, 429}
_SIGNS = (  # words that say more than other statuses: Google answers 400 to a wrong key, LM Studio 200 to a long prompt
    (_IS_LONG, LONG_PROMPT),
    (re.compile(r"api[ _-]?key|invalid_authentication", re.IGNORECASE), WRONG_KEY),
    (re.compile(r"content.?filter|content management policy|safety", re.IGNORECASE), "The server's filter refused it."),
    (re.compile(r"max_(?:completion_)?tokens"), "Lower OPENAI_MAX_TOKENS."),
    (re.compile(r"verified to stream"), "The provider lets only verified organizations stream this model: verify it."),
)
_BY_STATUS = {
    **dict.fromkeys((301, 302, 307, 308), "The server redirects: write the base URL as it is after the redirect."),
    401: WRONG_KEY,
    402: "The account has no credit left.",
    403: "The key may not use this model: change its rights, or the model's name (OPENAI_MODEL).",
    404: _NAME,
    405: _NAME,
    408: "The server took too long itself. Look into its log.",
    413: f"{LONG_PROMPT} Some providers answer this, too, when the account's tokens per minute do not suffice.",
    429: _QUOTA,
}

_IS_UNSUPPORTED = re.compile(
    r"unsupported|not.support|unrecognized|unknown|unexpected|extra.(?:inputs|forbidden)|not.(?:permitted|allowed)",
    re.IGNORECASE,
)
FAILED_CALL = "tool_use_failed"  # the model called a tool in a wrong way this time (Groq)
_LIMITS = {"max_tokens", "max_completion_tokens"}  # refused for their values, too, which another name does not change
_OPTIONAL = {*_LIMITS, "temperature", "stream_options", "reasoning_effort"}
_OTHER_NAMES = {"reasoning_effort": "|think|thinking"}  # Ollama and Google name what they translate it to
_HAS_NO_TOOLS = re.compile(  # Ollama and many others; OpenRouter; vLLM and SGLang; llama.cpp
    r"(?:not|n't) support\W{0,3}(?:tools?|functions?)\b|support tool use|tool choice requires|tools param requires"
    r"|cannot use tools|\b(?:tool|function)s?(?:[ _-](?:use|calls?|calling))?\W{1,3}(?:is|are) (?:not|un) ?"
    r"(?:supported|enabled|available|allowed)",
    re.IGNORECASE,
)


def build_error(reason: str, status: int, words: str, *, retry_after: float | None = None) -> UpstreamError:
    """The error for a refusal with these words. `status`: that of HTTP, or that in an error event (0: none)."""
    is_long = bool(_IS_LONG.search(words))
    by_status = _BY_STATUS.get(status, _FAULT if 500 <= status <= 599 else "")
    signs = () if status in _CLEAR else _SIGNS
    advice = next((advice for sign, advice in signs if sign.search(words)), by_status)
    return UpstreamError(
        reason,
        **({"advice": advice} if advice else {}),
        retryable=(status == 429 or 500 <= status <= 599 or (not status and bool(_IS_BUSY.search(words))))
        and not is_long,
        retry_after=retry_after,
        is_server_fault=status not in (400, 413, 422) and not is_long,
        message="".join(letter if letter.isprintable() else " " for letter in words[:_MAX_MESSAGE]),
    )


def find_refused_parameters(status: int, words: str, request: Collection[str]) -> frozenset[str]:
    """The parameters of a request that an error refuses and that a request can do without.

    Models without tools answer with other statuses, too.
    """
    if status not in (400, 404, 422, 500, 501) or _IS_LONG.search(words):
        return frozenset()
    if "tools" in request and _HAS_NO_TOOLS.search(words):
        return frozenset({"tools"})
    if status not in (400, 422):
        return frozenset()
    candidates = _OPTIONAL if _IS_UNSUPPORTED.search(words) else _OPTIONAL - _LIMITS
    named = {
        name
        for name in candidates.intersection(request)
        if re.search(rf"\b(?:{name}{_OTHER_NAMES.get(name, '')})\b", words)
    }
    if not named and "tools" in request and re.search(r"\btools\b", words):
        named = {"tools"}
    return frozenset(named)


def is_unclear_refusal(status: int, words: str) -> bool:
    """Whether a refusal that names no parameter may be about the tools: one with status 400 or 422 and no clear words.

    Some servers refuse tools with a bare 400.
    """
    return status in (400, 422) and not _IS_LONG.search(words) and not any(sign.search(words) for sign, _ in _SIGNS)


def error_words(error: Any, depth: int = 0) -> str:
    """All words of an error: its sentences, types, codes and names of parameters."""
    if isinstance(error, str) and error.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return error_words(json.loads(error), depth + 1)
    if isinstance(error, dict):
        error = [value for key, value in error.items() if key not in _QUOTES]
    if isinstance(error, list):
        return " ".join(filter(None, (error_words(part, depth + 1) for part in error))) if depth < _MAX_DEPTH else ""
    return "" if error is None else str(error)


def error_status(error: Any) -> int:
    """The HTTP status in an error: a number or a text, in `code` or `status`; 0 if there is none."""
    names = [str(error.get("code")), str(error.get("status"))] if isinstance(error, dict) else []
    return next((int(name) for name in names if re.fullmatch("[1-5][0-9][0-9]", name)), 0)
