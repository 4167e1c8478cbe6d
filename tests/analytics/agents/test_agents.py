"""Classes of clients, listed and unlisted, each with the rule that decided."""

import io
import json
import random
import string
import time
from collections import Counter

import pytest
from django.core.management import call_command

from analytics.agents import (
    AI_CLASSES,
    MAX_LENGTH,
    VERSION,
    Verdict,
    classify,
    is_markdown_fetch,
    prefers_markdown,
    requested_format,
)
from analytics.agents.classification import _CLASSES, _classify
from analytics.agents.names import TABLES
from analytics.agents.user_agent_parser import MAX_NAMES, MAX_PIECES, normalize, parse, split_words
from tests.analytics.agents.user_agents import (
    HUMANS,
    NAMED,
    ORDINARY,
    UNSEEN_AI,
)
from tests.variants import first_of


def _labelled(labelled: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(client_class, user_agent) for client_class, strings in labelled.items() for user_agent in strings]


@pytest.mark.parametrize(("client_class", "user_agent"), _labelled(NAMED))
def test_a_client_is_what_its_name_says(client_class: str, user_agent: str) -> None:
    assert classify(user_agent).client_class == client_class


def _listed() -> list[tuple[str, str, str]]:
    """Class, operator and name of each entry of the tables."""
    classes = {**_CLASSES, "plain": "ai_agent"}
    return [
        (classes[table], operator, name)
        for table, operators in TABLES.items()
        for operator, names in operators.items()
        for name in names
    ]


def test_each_listed_name_decides_the_class() -> None:
    """A name that fails here is never looked up, or another name hides it."""
    for client_class, operator, name in _listed():
        known = "" if operator.startswith("(") else operator
        assert classify(f"{name}/1.0") == Verdict(client_class, f"name: {name}", name, known)


def test_each_name_is_listed_once() -> None:
    keys = Counter(normalize(name) for _, _, name in _listed())
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize(("client_class", "user_agent"), _labelled(UNSEEN_AI))
def test_ai_that_nobody_has_listed_is_known_by_its_family(client_class: str, user_agent: str) -> None:
    verdict = classify(user_agent)
    assert not verdict.rule.startswith("name:"), "a listed name says nothing of the families"
    assert verdict.client_class == client_class


@pytest.mark.parametrize("user_agent", ORDINARY)
def test_ordinary_bots_are_no_ai_and_no_people(user_agent: str) -> None:
    assert classify(user_agent).client_class not in (*AI_CLASSES, "human")


@pytest.mark.parametrize("user_agent", HUMANS)
def test_people_stay_people(user_agent: str) -> None:
    assert classify(user_agent) == Verdict("human", "looks like a browser")


@pytest.mark.parametrize(
    ("user_agent", "verdict"),
    [
        ("GPTBot/1.0", Verdict("ai_training", "name: GPTBot", "GPTBot", "OpenAI")),
        ("claude code", Verdict("ai_agent", "name: claude-code", "claude-code", "Anthropic")),
        ("AcmeGPT-User/1.0", Verdict("ai_user", "fetches for a user: AcmeGPT-User", "AcmeGPT-User")),
        ("AcmeLLM/1.0", Verdict("ai_agent", "AI family: AcmeLLM", "AcmeLLM")),
        ("web-browser-agent/1", Verdict("ai_agent", "calls itself an agent: web-browser-agent", "web-browser-agent")),
        ("AcmeAI/1.0", Verdict("ai_agent", "calls itself AI: AcmeAI", "AcmeAI")),
        ("AcmeBot/1.0 (+https://acme.ai)", Verdict("ai_training", "at home under .ai: acme.ai", "AcmeBot")),
        ("AcmeBot (info@cohere.com)", Verdict("ai_training", "at home with AI: cohere.com", "AcmeBot")),
        ("AcmeBot (for AI training)", Verdict("ai_training", "says what it is for: AI training", "AcmeBot")),
        ("curl/8.5.0", Verdict("http_client", "HTTP library", "curl")),
        ("MyShopHttpClient/1.0", Verdict("http_client", "HTTP library", "MyShopHttpClient")),
        ("AcmeCrawler/1.0", Verdict("other_bot", "mark of a bot: AcmeCrawler", "AcmeCrawler")),
        ("Acme (+https://acme.example)", Verdict("other_bot", "mark of a bot: acme.example", "Acme")),
        ("Mozilla/5.0 (compatible; Acme/2)", Verdict("other_bot", "mark of a bot: compatible; Acme", "Acme")),
        ("AcmeSearchBot/1.0", Verdict("search_crawler", "mark of a bot: AcmeSearchBot", "AcmeSearchBot")),
        ("WPScan v3", Verdict("other_bot", "name: WPScan", "WPScan")),
        ("acme", Verdict("http_client", "not a browser", "acme")),
        ("acme/1.0 (MCP client)", Verdict("ai_agent", "MCP client", "acme")),
        ("claude-code/2.1 (cli) (MCP client)", Verdict("ai_agent", "MCP client", "claude-code", "Anthropic")),
        ("python-httpx/0.28 (MCP client)", Verdict("ai_agent", "MCP client", "python-httpx")),
        ("(MCP client)", Verdict("ai_agent", "MCP client", "MCP-client")),
        ("someone@example.com (MCP client)", Verdict("ai_agent", "MCP client", "MCP-client")),
        ("  ", Verdict("http_client", "no user agent")),
    ],
)
def test_each_rule_says_why(user_agent: str, verdict: Verdict) -> None:
    assert classify(user_agent) == verdict


def test_names_are_cut_and_only_the_beginning_counts() -> None:
    assert classify("x" * 100_000) == Verdict("http_client", "not a browser")
    assert classify(" " * MAX_LENGTH + "GPTBot").rule == "no user agent"
    verdict = classify("gpt" * 100)
    assert (len(verdict.agent), len(verdict.rule)) == (80, 80)


@pytest.mark.parametrize(
    ("user_agent", "agent"),
    [
        ("x" * 40, "x" * 40),
        ("x" * 41, ""),
        ("acme_tool.v2-b/1", "acme_tool.v2-b"),
        ("someone@example.com", ""),
        ("12345678", ""),
        ("<script>alert(1)</script>", ""),
        ("acme$tool second", "second"),
        ("\u202eemca\u200b/1.0", "emca"),
        ("\x00ac\u2066me\tbot", "acme"),
    ],
)
def test_only_what_is_like_a_name_is_kept_of_unlisted_clients(user_agent: str, agent: str) -> None:
    verdict = classify(user_agent)
    assert verdict.agent == agent
    assert (verdict.agent + verdict.rule).isprintable()


def test_a_name_is_read_in_words() -> None:
    assert split_words("SomeLLMCrawler") == ("some", "llm", "crawler")
    assert split_words("nerdybot") == ("nerdy", "bot")
    assert split_words("MailChimp") == ("mail", "chimp")
    assert "ai" in split_words("AIbot")
    assert "ai" not in split_words("AirmailBot")


@pytest.mark.parametrize("text", ["a " * 256, "(a" * 256, "a;" * 256, "[a]" * 170, "a/1," * 128, "()" * 256])
def test_only_so_much_of_a_string_is_looked_at(text: str) -> None:
    assert len(parse(text[:MAX_LENGTH]).names) <= MAX_NAMES
    assert not parse("()" * (MAX_PIECES // 2) + "GPTBot").names


@pytest.mark.parametrize(
    "alphabet", first_of([string.printable, "aA-. ;(/@+:", "ai-bot ", "aB", "0.", ".a", "é (", "(["], 2)
)
def test_no_string_takes_long(alphabet: str) -> None:
    pick = random.Random(1)
    strings = ["".join(pick.choices(alphabet, k=MAX_LENGTH)) for _ in range(100)]
    strings += [
        (piece * MAX_LENGTH)[:MAX_LENGTH] for piece in ("h", "a.", "a-", "-User", "https://a.", "@a", "x ", "+http")
    ]

    def seconds() -> float:
        began = time.process_time()
        for text in strings:
            _classify.__wrapped__(text)
        return (time.process_time() - began) / len(strings)

    # It takes 0.3 ms on a slow machine, and many times that if a pattern goes back. Garbage is collected in one round.
    assert any(seconds() < 0.003 for _ in range(3))


@pytest.mark.parametrize(
    ("accept", "markdown"),
    [
        ("text/markdown", True),
        ("text/markdown, text/html;q=0.9", True),
        ("text/html, text/markdown;q=0.9", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        ("*/*", False),
        ("", False),
        ("text/markdown;q=0", False),
        ("text/markdown;q=nonsense", False),
    ],
)
def test_markdown_is_asked_for_by_name(accept: str, markdown: bool) -> None:
    assert prefers_markdown(accept) is markdown
    assert requested_format("/install", accept) == ("md" if markdown else "html")


@pytest.mark.parametrize(
    ("path", "surface"),
    [
        ("/install", "html"),
        ("/install.md?x=1", "md"),
        ("/Install.MDX", "md"),
        ("/install.markdown#top", "md"),
        ("/llms.txt", "llms"),
        ("/docs/llms-full.txt?v=2", "llms"),
        ("/my-llms.txt", "html"),
        ("/md", "html"),
        ("/?page=a.md", "html"),
    ],
)
def test_what_was_asked_for(path: str, surface: str) -> None:
    assert requested_format(path, "") == surface


def test_a_markdown_fetch_is_by_no_known_crawler() -> None:
    assert is_markdown_fetch("human", "md")
    assert is_markdown_fetch("http_client", "llms")
    assert not is_markdown_fetch("http_client", "html")
    assert not is_markdown_fetch("other_bot", "md")
    assert not is_markdown_fetch("ai_training", "md")


def _print_class(*arguments: str) -> str:
    out = io.StringIO()
    call_command("classify", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_explains() -> None:
    assert _print_class("GPTBot/1.2") == (
        "class      ai_training: a crawler for AI training\n"
        "agent      GPTBot\n"
        "operator   OpenAI\n"
        f"rule       name: GPTBot (rules {VERSION})\n"
        "surface    html: the page\n"
        "counts as  AI; in no count if the project counts only clients that read for a person\n"
    )


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        ((HUMANS[0],), "human"),
        ((HUMANS[0], "--path", "/install.md"), "ai"),
        (("claude-code/2.1",), "ai"),
        (("CCBot/2.0",), "ai"),
        (("curl/8",), ""),
        (("curl/8", "--accept", "text/markdown"), "ai"),
        (("Googlebot/2.1", "--path", "/llms.txt"), ""),
    ],
)
def test_the_command_says_what_counts(arguments: tuple[str, ...], counted: str) -> None:
    answer = json.loads(_print_class(*arguments, "--json"))
    assert answer["counts_as"] == counted
    assert set(answer) == {"class", "agent", "operator", "rule", "rules", "surface", "counts_as"}
    human, ai, none = ("human\n", "AI", "in no count")
    assert {"human": human, "ai": ai, "": none}[counted] in _print_class(*arguments).partition("counts as ")[2]
