"""Classes of clients, named and unnamed, each with the rule that decided."""

import time

import pytest

from analytics.agents import classify, prefers_markdown

WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "client_class", "agent"),
    [
        (f"{WINDOWS} Chrome/142.0.0.0 Safari/537.36", "human", ""),
        (
            "Mozilla/5.0 (Linux; Android 13; CUBOT X70) AppleWebKit/537.36 Chrome/120.0 Mobile Safari",
            "human",
            "",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "human", ""),
        ("Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)", "ai_user", "ChatGPT-User"),
        ("Claude-User (claude-code/2.1; +https://support.anthropic.com/)", "ai_user", "Claude-User"),
        ("claude-code/2.0.31", "ai_agent", "claude-code"),
        ("Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/bot)", "ai_search", "PerplexityBot"),
        ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "ai_training", "GPTBot"),
        ("CCBot/2.0 (https://commoncrawl.org/faq/)", "ai_training", "CCBot"),
        ("Mozilla/5.0 (compatible; NewCorp-GPT-User/3.1)", "ai_user", "NewCorp-GPT-User"),
        ("SomeLLMCrawler/0.1", "ai_training", "SomeLLMCrawler"),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "search_crawler", "Googlebot"),
        ("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "other_bot", "AhrefsBot"),
        ("curl/8.5.0", "http_client", "curl"),
        ("python-requests/2.32.3", "http_client", "python"),
        ("node", "http_client", "node"),
        ("", "http_client", ""),
        ("x" * 100_000, "http_client", "x" * 80),
    ],
)
def test_a_client_is_what_its_name_says(user_agent, client_class, agent):
    verdict = classify(user_agent)
    assert (verdict.client_class, verdict.agent) == (client_class, agent)
    assert verdict.rule


@pytest.mark.parametrize(
    "piece", ["h", "a.", "a-", "ai", "bot", "Mozilla/5.0 (", "@a", "https://a.", "x ", "(", "-User", "code-", "+http"]
)
def test_no_string_takes_long(piece):
    text = piece * 512
    began = time.process_time()
    for number in range(50):
        classify(f"{text[: 500 + number % 9]}{number}")
    assert time.process_time() - began < 1.0, "50 strings: minutes, where a rule tries every split of one"


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
def test_markdown_is_asked_for_by_name(accept, markdown):
    assert prefers_markdown(accept) is markdown
