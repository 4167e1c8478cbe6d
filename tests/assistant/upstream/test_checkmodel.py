"""`manage.py checkmodel` says what works with a model server, and what to change."""

import io

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from pydantic import ValidationError

from assistant.models import AssistantSettings
from docsite.env import Env
from tests.ports import free_port
from tests.variants import first_of


@pytest.fixture
def check(upstream, monkeypatch):
    """Check models of the fake server, by the modes that it is to follow. Returns what is printed."""

    def check(*modes: str, fails: bool = False, domain: str = "", **env: object) -> str:
        env = {"openai_base_url": f"{upstream.url}/v1", "openai_api_key": "sk-hidden", **env}
        names = dict(zip(("openai_model", "openai_fallback_model"), (f"fake:{mode}" for mode in modes), strict=False))
        for name, value in {**env, **names}.items():
            monkeypatch.setattr(settings.ENV, name, value)
        printed = io.StringIO()
        if fails:
            with pytest.raises(CommandError, match="cannot answer as"):
                call_command("checkmodel", *filter(None, [domain]), stdout=printed)
        else:
            call_command("checkmodel", *filter(None, [domain]), stdout=printed)
        assert "sk-hidden" not in printed.getvalue()
        return printed.getvalue()

    return check


def test_a_model_that_works_is_described(check, upstream):
    printed = check("checked")
    assert printed.startswith(f"fake:checked at {upstream.url}/v1\n")
    assert (
        "✓ It answers and cites: “It listens on port 7431 [1] and writes to the log file `grebe.log` [2].”" in printed
    )
    assert "✓ First word after " in printed
    assert "✓ It counts 3,456 tokens read and 21 written, 9 of them thoughts." in printed
    assert "✓ It calls tools." in printed
    assert "✗" not in printed


@pytest.mark.parametrize(
    ("mode", "sentence"),
    first_of(
        [
            ("happy", "✗ It did not find the answer in its passages: “To install acme"),
            ("happy", "✗ Its context is too short: the question has about "),
            ("happy", "in Ollama with OLLAMA_CONTEXT_LENGTH=16384.\n"),
            ("forgetful", "✗ Its context is too short: the question has about 5,"),
            ("forgetful", "OLLAMA_CONTEXT_LENGTH=16384, or set OPENAI_PASSAGE_TOKENS=2500: with these it finds all."),
            ("uncited", "✗ It does not cite its passages"),
            ("uncited", "– It does not count tokens"),
            ("uncited", "– The answer came in one piece."),
            ("thoughts", "✗ It wrote nothing. The model spent all its tokens on its thoughts"),
            (
                "status404",
                "✗ No answer: the model server answered 404. Check the model's name (OPENAI_MODEL) and the base URL",
            ),
            ("status401", "✗ No answer: the model server answered 401. Check the API key"),
            ("status401", "– The server says: secret details of http://10.0.0.7/v1, key …"),
            ("cut", "✗ No answer: the connection to the model server broke."),
        ],
        2,
    ),
)
def test_a_model_that_does_not_work_is_described(check, mode, sentence):
    assert sentence in check(mode, fails=True)


def test_a_model_is_asked_as_the_service_asks(check, upstream):
    before = len(upstream.log)
    assert "again and again" not in check("checked")
    first, second = upstream.log[before:]
    assert "tools" in first
    assert "listens on port 7431" in first["messages"][-1]["content"][:1_000], "at the beginning"
    assert "grebe.log" in first["messages"][-1]["content"][-3_000:], "and at the end of a full prompt"
    assert "<passage" not in second["messages"][-1]["content"], "whether it calls tools at all"


def test_a_model_that_always_calls_is_described_and_answers(check, upstream):
    before = len(upstream.log)
    printed = check("calling")
    assert "– It calls tools again and again though its passages have the answer." in printed
    assert "✓ It answers and cites" in printed
    assert ["tools" in sent for sent in upstream.log[before:]] == [True, True, False, True]


def test_a_small_budget_fits_a_model_with_a_small_context(check):
    assert "✓ It answers and cites" in check("forgetful", openai_passage_tokens=2_500)


def test_a_server_that_refuses_tools_is_described(check, upstream):
    base_url = f"{upstream.url}/ollama_without_tools/v1"
    printed = check("happy", fails=True, openai_base_url=base_url, openai_api_key="sk-fake")
    assert "– Its server refuses tools, so it cannot search for itself." in printed


def test_a_server_that_is_not_there_is_named_with_its_address(check):
    address = f"http://127.0.0.1:{free_port()}/v1"
    assert f"Check that a server runs at {address}" in check("checked", fails=True, openai_base_url=address)


@pytest.mark.matrix
def test_limits_that_are_too_short_are_named(check):
    printed = check("slow_first", fails=True, openai_first_token_seconds=0.1)
    assert "Raise OPENAI_FIRST_TOKEN_SECONDS from 0.1 to " in printed


def test_both_models_are_checked(check):
    printed = check("checked", "status500", fails=True)
    assert printed.count(" at http://") == 2
    assert "Look into its log" in printed


def test_a_project_has_its_own_model(check, make_project, upstream):
    tenant = make_project()
    owners = {"model": "fake:checked", "temperature": 0.3, "reasoning_effort": "low"}
    AssistantSettings.objects.create(project=tenant.project, **owners)
    assert "fake:checked at" in check("cut", domain=tenant.domain, openai_reasoning_effort="high")
    assert (upstream.log[-1]["temperature"], upstream.log[-1]["reasoning_effort"]) == (0.3, "low")


def test_the_effort_of_the_environment_reaches_every_model(check, upstream):
    check("checked", "checked", openai_reasoning_effort="high")
    assert [sent["reasoning_effort"] for sent in upstream.log[-4:]] == ["high"] * 4
    check("checked", openai_reasoning_effort="")
    assert "reasoning_effort" not in upstream.log[-1]


def test_the_effort_is_one_word():
    assert Env(openai_reasoning_effort="minimal").openai_reasoning_effort == "minimal"
    with pytest.raises(ValidationError, match="one word in small letters"):
        Env(openai_reasoning_effort="Very high")


def test_without_a_model_server_it_says_so(monkeypatch):
    monkeypatch.setattr(settings.ENV, "openai_base_url", "")
    with pytest.raises(CommandError, match="set OPENAI_BASE_URL"):
        call_command("checkmodel")
