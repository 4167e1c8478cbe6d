"""How model servers differ on the wire, for the fake one in `tests/upstream.py`.

Each dialect is written after what its server does: documentation, issues and bug reports of 2024 to 2026. They answer
the same, so that one test asks all of them.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

ANSWER = ["To install", " acme, run the", " command in [1]."]
THOUGHTS = "SECRET thoughts"  # no reader may see them
USAGE = {"prompt_tokens": 812, "completion_tokens": 21, "total_tokens": 833}
REASONED = {**USAGE, "completion_tokens_details": {"reasoning_tokens": 9}}
DONE = b"data: [DONE]\n\n"


def chunk(delta: Any = None, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    """An event with one choice."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "choices": [choice], **more}


def texts(**more: Any) -> list[Any]:
    """The events of the answer."""
    return [chunk({"content": text}, **more) for text in ANSWER]


def thoughts(name: str, **more: Any) -> list[Any]:
    """Events with thoughts in a field of the delta."""
    return [chunk({name: word, **more}) for word in THOUGHTS.split(" ")]


def error(message: str, **more: Any) -> dict[str, Any]:
    """OpenAI's shape of an error."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}


SEARCH, READ = ("search", '{"query": "where"}'), ("read_page", '{"path": "/a"}')  # what a model calls at once
SIGNATURE = {"extra_content": {"google": {"thought_signature": "c2ln"}}}


def call(index: int | None, name: str = "", arguments: Any = "", **more: Any) -> dict[str, Any]:
    """A piece of a tool call, in a delta. Without an index, the server does not number its calls."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value}
    numbered = {} if index is None else {"index": index}
    return {"tool_calls": [{**numbered, **more, "function": function}]}


def whole_calls(first_index: int | None = 0, second_index: int | None = 1, **more: Any) -> list[Any]:
    """Both calls, each whole."""
    both = ((first_index, SEARCH, "call_a1b2c3"), (second_index, READ, "call_d4e5f6"))
    return [chunk(call(index, *tool, id=id, type="function", **more)) for index, tool, id in both]


def cut_calls() -> list[Any]:
    """Both calls in pieces."""
    steps = []
    for index, (name, arguments) in enumerate((SEARCH, READ)):
        steps += [chunk(call(index, name, id=f"call_{index}", type="function"))]
        steps += [chunk(call(index, arguments=arguments[at : at + 4])) for at in range(0, len(arguments), 4)]
    return steps


ROLE = chunk({"role": "assistant", "content": ""})
STOP = chunk(finish_reason="stop")
CALLED = chunk(finish_reason="tool_calls")
COUNTS = {**chunk(), "choices": [], "usage": USAGE}
NO_KEY = (401, error("Incorrect API key provided: wrong.", code="invalid_api_key"))
TOO_LONG = (400, error("This model's maximum context length is 1024 tokens.", code="context_length_exceeded"))


@dataclass(frozen=True)
class Dialect:
    """One server. A refusal is a status and a body; a body that is a list of steps is a stream."""

    script: list[Any]
    base: str = "/v1"  # path and query of the base URL
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    refused: dict[str, tuple[int, Any]] = field(default_factory=dict)  # by the parameter that it does not take
    wrong_key: tuple[int, Any] = NO_KEY
    too_long: tuple[int, Any] = TOO_LONG
    counts_tokens: bool = True
    reasoning_tokens: int = 0
    calls: list[Any] = field(default_factory=lambda: [*cut_calls(), CALLED, DONE])
    wanted_back: str = ""  # a key that a later request must have in the message with the calls


def _mistral_refusal(parameter: str) -> tuple[int, Any]:
    detail = {
        "type": "extra_forbidden",
        "loc": ["body", parameter],
        "msg": "Extra inputs are not permitted",
        "input": {},
    }
    return 422, {"object": "error", "message": {"detail": [detail]}, "type": "invalid_request_error", "code": None}


def _google(status: int, message: str) -> tuple[int, Any]:
    return status, [{"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT", "details": []}}]


def _without_tools(name: str, status: int, body: Any, parameter: str = "tools") -> dict[str, Dialect]:
    """A model of the server that has no tools, or not this parameter."""
    return {f"{name}_without_{parameter}": replace(DIALECTS[name], refused={parameter: (status, body)})}


_LITELLM_INNER = json.dumps(error("Unsupported parameter: 'temperature' is not supported.", param="temperature"))
_SAFE = {"hate": {"filtered": False, "severity": "safe"}}
_LM_STUDIO_LONG = {"error": {"message": "The number of tokens to keep is greater than the context length."}}

DIALECTS: dict[str, Dialect] = {
    "openai": Dialect(
        [ROLE, *texts(usage=None, obfuscation="x1"), chunk(finish_reason="stop", usage=None), COUNTS, DONE],
        refused={"reasoning_effort": (400, error("Unrecognized request argument supplied: reasoning_effort"))},
    ),
    "openai_reasoning": Dialect(
        [ROLE, *texts(), STOP, {**COUNTS, "usage": REASONED}, DONE],
        refused={
            "max_tokens": (
                400,
                error(
                    "Unsupported parameter: 'max_tokens' is not supported with this model. "
                    "Use 'max_completion_tokens' instead.",
                    **{"param": "max_tokens", "code": "unsupported_parameter"},
                ),
            ),
            "temperature": (
                400,
                error(
                    "Unsupported value: 'temperature' does not support 0.2 with this model. Only 1 is supported.",
                    **{"param": "temperature", "code": "unsupported_value"},
                ),
            ),
        },
        reasoning_tokens=9,
    ),
    "azure": Dialect(
        [
            {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": _SAFE}]},
            chunk({"role": "assistant", "content": ""}),
            *texts(system_fingerprint="fp_1"),
            STOP,
            COUNTS,
            DONE,
        ],
        base="/openai/deployments/fake?api-version=2024-10-21",
        key_header="api-key",
        key_prefix="",
        wrong_key=(401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}}),
    ),
    "anthropic": Dialect(
        [*texts(), STOP, COUNTS, DONE],
        too_long=(400, error("prompt is too long: 200251 tokens > 200000 maximum")),
    ),
    "google": Dialect(
        [
            *(chunk({"role": "assistant", "content": text}, usage=USAGE) for text in ANSWER[:-1]),
            chunk({"role": "assistant", "content": ANSWER[-1]}, finish_reason="stop", usage=USAGE),
            DONE,
        ],
        base="/v1beta/openai",
        calls=[*whole_calls(0, 0, **SIGNATURE), chunk(finish_reason="stop", usage=USAGE), DONE],
        wanted_back="extra_content",
        wrong_key=_google(400, "API key not valid. Please pass a valid API key."),
        too_long=_google(400, "The input token count exceeds the maximum context length (1048576)."),
    ),
    "mistral": Dialect(
        [
            ROLE,
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHTS}]}]}),
            chunk({"content": [{"type": "text", "text": ANSWER[0]}]}),
            *texts()[1:],
            chunk({"content": ""}, finish_reason="stop", usage=USAGE),
            DONE,
        ],
        refused={
            name: _mistral_refusal(name) for name in ("stream_options", "max_completion_tokens", "reasoning_effort")
        },
        wrong_key=(401, {"detail": "Unauthorized"}),
        calls=[ROLE, *whole_calls(), chunk(finish_reason="tool_calls", usage=USAGE), DONE],
    ),
    "groq": Dialect(
        [
            chunk({"role": "assistant", "content": ""}, x_groq={"id": "req_1"}),
            *thoughts("reasoning"),
            *texts(),
            chunk(finish_reason="stop", x_groq={"id": "req_1", "usage": USAGE}),
            DONE,
        ],
        base="/openai/v1",
        calls=[*thoughts("reasoning"), *whole_calls(), CALLED, DONE],
        too_long=(413, error("Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000")),
    ),
    "openrouter": Dialect(
        [
            b": OPENROUTER PROCESSING\n\n",
            *thoughts("reasoning", content="", reasoning_details=[{"type": "reasoning.text", "text": THOUGHTS}]),
            b": OPENROUTER PROCESSING\n\n",
            *texts(provider="Some"),
            STOP,
            COUNTS,
            DONE,
        ],
        base="/api/v1",
        calls=[
            b": OPENROUTER PROCESSING\n\n",
            *thoughts("reasoning", reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}]),
            *cut_calls(),
            CALLED,
            DONE,
        ],
        wanted_back="reasoning_details",
        too_long=(
            200,
            [
                b": OPENROUTER PROCESSING\n\n",
                {
                    **chunk({"content": ""}, finish_reason="error"),
                    "error": {"code": 400, "message": "maximum context length is 8192 tokens"},
                },
            ],
        ),
    ),
    "vllm": Dialect(
        [ROLE, *thoughts("reasoning_content"), *texts(), STOP, COUNTS, DONE],
        wrong_key=(401, {"error": "Unauthorized"}),
        calls=[ROLE, *thoughts("reasoning_content"), *cut_calls(), CALLED, DONE],
        wanted_back="reasoning_content",
        too_long=(400, {"object": "error", "message": "max_tokens must be at least 1, got -186.", "code": 400}),
    ),
    "ollama": Dialect(
        [*thoughts("reasoning", role="assistant", content=""), *texts(), STOP, COUNTS, DONE],
        refused={"reasoning_effort": (400, error('"fake" does not support thinking'))},
        too_long=(400, {"error": "the input length exceeds the context length"}),
        calls=[*thoughts("reasoning", content=""), *whole_calls(), STOP, DONE],
    ),
    "lm_studio": Dialect(
        [
            ROLE,
            *(chunk({"content": piece}) for piece in ("<th", "ink>\n", THOUGHTS, "\n</thi", "nk>", "\n\n")),
            *texts(),
            STOP,
            DONE,
        ],
        counts_tokens=False,
        calls=[chunk(call(None, *SEARCH)), chunk(call(None, *READ)), CALLED, DONE],
        too_long=(200, [b"event: error\n", _LM_STUDIO_LONG]),
    ),
    "llama_cpp": Dialect(
        [
            chunk({"role": "assistant", "content": None}),
            *thoughts("reasoning_content"),
            *(f"data:{json.dumps(event)}\r\n\r\n".encode() for event in texts()),
            {**STOP, "timings": {"predicted_per_second": 40.0}},
            COUNTS,
            DONE,
        ],
        too_long=(
            200,
            [b'error: {"code":400,"message":"too large","type":"exceed_context_size_error","n_ctx":4096}\n\n'],
        ),
    ),
    "litellm": Dialect(
        [ROLE, *thoughts("reasoning_content"), *texts(), STOP, COUNTS, DONE],
        base="",
        refused={
            "temperature": (
                400,
                error(f"litellm.BadRequestError: OpenAIException - {_LITELLM_INNER}", type=None, code="400"),
            ),
        },
        too_long=(
            200,
            [ROLE, error("litellm.ContextWindowExceededError: maximum context length", type="None", code="400")],
        ),
    ),
    "no_stream": Dialect(  # a gateway that ignores `stream`
        [
            json.dumps(
                {
                    "object": "chat.completion",
                    "choices": [{"message": {"content": "".join(ANSWER)}, "finish_reason": "stop"}],
                    "usage": USAGE,
                },
                indent=1,
            ).encode(),
        ],
        calls=[
            json.dumps(
                {
                    "choices": [
                        {
                            "message": {
                                "content": None,
                                "tool_calls": [
                                    {"id": name, "function": {"name": name, "arguments": json.loads(arguments)}}
                                    for name, arguments in (SEARCH, READ)
                                ],
                            },
                            "finish_reason": "function_call",
                        }
                    ]
                }
            ).encode()
        ],
    ),
}
DIALECTS |= {
    **_without_tools("ollama", 400, error("registry.ollama.ai/library/gemma3:4b does not support tools")),
    **_without_tools(
        "vllm", 400, error('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')
    ),
    **_without_tools("openrouter", 404, error("No endpoints found that support tool use.", code=404)),
    **_without_tools("llama_cpp", 500, {"error": {"code": 500, "message": "tools param requires --jinja flag"}}),
}
