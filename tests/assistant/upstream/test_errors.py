"""Errors of model servers: which parameters they refuse, and what they say, in every shape."""

import json

import pytest

from assistant.upstream.errors import LONG_PROMPT, build_error, error_words, find_refused_parameters, is_unclear_refusal

SENT = {"model", "messages", "stream", "max_tokens", "temperature", "stream_options", "reasoning_effort"}


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {"max_tokens"}),
        ("temperature: range: 0 to 1", {"temperature"}),
        (
            "extra_forbidden body stream_options Extra inputs are not permitted body temperature",
            {"stream_options", "temperature"},
        ),
        ('Unknown name "stream_options": Cannot find field.', {"stream_options"}),
        ("This model does not support max_tokens", {"max_tokens"}),
        ("max_tokens is too large: 20000. This model supports at most 16384.", set()),
        ("maximum context length is 10; you asked for 9 in max_tokens, which is not supported", set()),
        ("messages: unexpected role", set()),
        ("Unsupported value: 'reasoning_effort' does not support 'minimal'", {"reasoning_effort"}),
        ('think value "medium" is not supported for this model', {"reasoning_effort"}),
        ('"llama3.1:8b" does not support thinking', {"reasoning_effort"}),
        ("Budget 0 is invalid. This model only works in thinking mode.", {"reasoning_effort"}),
        ("max_tokens_per_minute is not supported", set()),
    ],
)
def test_a_refused_parameter_is_found(words, refused):
    assert find_refused_parameters(422, words, SENT) == refused
    assert find_refused_parameters(422, words, {"model", "messages"}) == set()
    assert find_refused_parameters(404, words, SENT) == set()


@pytest.mark.parametrize(
    ("status", "words", "refused"),
    [
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools", {"tools"}),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', {"tools"}),
        (404, "No endpoints found that support tool use. Try disabling it.", {"tools"}),
        (500, "tools param requires --jinja flag", {"tools"}),
        (400, "`tool calling` is not supported with this model", {"tools"}),
        (400, "This model does not support function calls.", {"tools"}),
        (400, "Function calling is not enabled for models/gemma-3-27b-it", {"tools"}),
        (501, "tools are not supported", {"tools"}),
        (422, "extra_forbidden body tools Extra inputs are not permitted", {"tools"}),
        (400, "messages with role 'tool' must be a response to a message with 'tool_calls'", set()),
        (404, "The model does not exist. Tools are in the list of tools.", set()),
        (500, "tools", set()),
        (400, "maximum context length is 10; tools have 9", set()),
    ],
)
def test_a_server_without_tools_is_recognised(status, words, refused):
    assert find_refused_parameters(status, words, {*SENT, "tools"}) == refused


@pytest.mark.parametrize(
    ("status", "words", "expected"),
    [(400, "Bad Request", True), (422, "", True), (403, "", False), (400, "API key not valid", False)],
)
def test_a_refusal_without_clear_words_may_be_about_tools(status, words, expected):
    assert is_unclear_refusal(status, words) is expected


@pytest.mark.parametrize(
    "error",
    [
        "the cause",
        {"error": "the cause"},
        {"error": {"message": "the cause", "param": None}},
        [{"error": {"message": "the cause"}}],
        {"detail": [{"msg": "the cause", "input": {"temperature": 1}, "url": "https://x.example/temperature"}]},
        {"error": {"message": json.dumps({"error": {"message": "the cause"}})}},
        {"error": "{half of JSON: the cause"},
    ],
)
def test_the_words_of_an_error_are_found_in_every_shape(error):
    words = error_words(json.dumps(error))
    assert "the cause" in words
    assert "temperature" not in words


def test_an_error_that_is_nested_very_deep_is_no_trouble():
    assert error_words("[" * 20_000) != ""
    assert error_words("[" * 500 + "]" * 500) == ""


def test_a_long_prompt_is_no_fault_of_the_server():
    error = build_error("it failed", 500, "the request exceeds the available context size")
    assert (error.advice, error.retryable, error.is_server_fault) == (LONG_PROMPT, False, False)
    assert build_error("it failed", 500, "out of memory").retryable


@pytest.mark.parametrize(
    ("status", "words", "advice"),
    [
        (400, "API key not valid", "OPENAI_API_KEY"),
        (429, "quota exceeded for this API key", "rate limit"),
        (301, "", "redirects"),
        (400, "max_tokens is too large", "Lower OPENAI_MAX_TOKENS"),
        (418, "", "checkmodel"),
        (503, "", "server's own"),
    ],
)
def test_an_error_says_what_to_change(status, words, advice):
    assert advice in build_error("it failed", status, words).advice


def test_the_servers_words_fit_on_a_line():
    error = build_error("it failed", 400, "a\nb\x1b[31m" + "x" * 1000)
    assert error.message.isprintable()
    assert len(error.message) == 300
