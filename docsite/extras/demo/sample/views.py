"""Three months of invented views for the demo, marked as samples. They are recorded like any other view."""

import ipaddress
import random
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from analytics.collecting.recording import Observation, record
from docsite.core.http.client_address import Address
from docsite.core.tenants.models import Project

DAYS = 90
_BATCH = 1_000

_BROWSERS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 "
    "Edg/142.0.0.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Mobile/15E148 Safari/604.1",
)
_LANGUAGES = (  # percent of people, and their header
    (48, "en-US,en;q=0.9"),
    (14, "en-GB"),
    (6, "en"),
    (11, "de-DE,de;q=0.9,en;q=0.8"),
    (5, "fr"),
    (5, "es-MX,es"),
    (4, "ja"),
    (4, "pt-BR,pt"),
    (3, "zh-CN,zh"),
)
_NEWSLETTER = "?utm_source=newsletter&utm_medium=email&utm_campaign="
_ARRIVALS = (  # weight, referrer, and query of the first page
    (30, "", ""),
    (26, "https://www.google.com/", ""),
    (4, "https://duckduckgo.com/", ""),
    (3, "https://www.bing.com/", ""),
    (9, "https://chatgpt.com/", "?utm_source=chatgpt.com"),
    (4, "https://www.perplexity.ai/", ""),
    (3, "https://claude.ai/", ""),
    (1, "https://gemini.google.com/", ""),
    (8, "https://github.com/", ""),
    (3, "https://stackoverflow.com/", ""),
    (2, "https://news.ycombinator.com/", ""),
    (2, "https://www.reddit.com/", ""),
    (2, "https://www.linkedin.com/", "?utm_source=linkedin&utm_medium=social&utm_campaign=launch"),
    (2, "", f"{_NEWSLETTER}october"),
    (2, "", f"{_NEWSLETTER}november"),
    (2, "https://blog.acme.example/", ""),
)


@dataclass(frozen=True)
class _Agent:
    """An agent: its visits a day, and the shares of them that request Markdown or llms.txt."""

    user_agent: str
    visits: float
    markdown: float = 0.0
    llms: float = 0.0


_COMPATIBLE = "Mozilla/5.0 (compatible; %s)"
_AGENTS = (
    _Agent(_COMPATIBLE % "ChatGPT-User/1.0; +https://openai.com/bot", 5),
    _Agent(_COMPATIBLE % "Claude-User/1.0; +Claude-User@anthropic.com", 3),
    _Agent("claude-code/2.0.31", 4, markdown=0.8, llms=0.3),
    _Agent(_COMPATIBLE % "PerplexityBot/1.0; +https://perplexity.ai/perplexitybot", 2),
    _Agent(_COMPATIBLE % "OAI-SearchBot/1.3; +https://openai.com/searchbot", 1),
    _Agent(_COMPATIBLE % "GPTBot/1.2; +https://openai.com/gptbot", 2),
    _Agent(_COMPATIBLE % "ClaudeBot/1.0; +claudebot@anthropic.com", 1),
    _Agent(_COMPATIBLE % "Googlebot/2.1; +http://www.google.com/bot.html", 4),
    _Agent(_COMPATIBLE % "bingbot/2.0; +http://www.bing.com/bingbot.htm", 2),
    _Agent(_COMPATIBLE % "AhrefsBot/7.0; +http://ahrefs.com/robot/", 1),
    _Agent("curl/8.5.0", 1, markdown=0.5),
    _Agent("python-requests/2.32.3", 1),
)
_PEOPLE = 700
_VISITS = 34  # visits of people on a weekday at the end of the three months


def make_sample_views(project: Project, paths: Sequence[str]) -> int:
    """Record invented views of the pages, for the demo. Returns their number.

    The random seed is fixed: each run makes the same views, and only their dates and ids differ.
    """
    rng = random.Random(7)
    now = timezone.now()
    views = sorted(
        (
            view
            for day in range(DAYS)
            for view in _views_of_day(rng, project.docs_url, paths, now, day)
            if view.at <= now
        ),
        key=lambda view: view.at,
    )
    for start in range(0, len(views), _BATCH):
        record(project, views[start : start + _BATCH])
    return len(views)


def _views_of_day(
    rng: random.Random, docs_url: str, paths: Sequence[str], now: datetime, ago: int
) -> Iterator[Observation]:
    """The views of the day that ended `ago` days ago: fewer at weekends, and fewer people long ago."""
    end = now - timedelta(days=ago)
    share = 0.5 if end.weekday() > 4 else 1.0
    for _ in range(round(_VISITS * share * (1 - ago / DAYS / 2) * rng.uniform(0.8, 1.2))):
        person = int(_PEOPLE * rng.random() ** 2)  # some come often
        at = end - timedelta(hours=min(24, abs(rng.gauss(10, 6))), seconds=rng.randint(0, 3600))
        ((_, referrer, query),) = rng.choices(_ARRIVALS, [weight for weight, *_ in _ARRIVALS])
        language = _language_of(person)
        for path in _pick_pages(rng, paths, rng.randint(1, 5)):
            markdown = rng.random() < 0.02
            page = f"{path}.md" if markdown and path != "/" else path
            browser = _BROWSERS[person % len(_BROWSERS)]
            seen = _sample_view(rng, page + query, at, _address_of(person), browser)
            yield seen._replace(referrer=referrer, accept_language=language)
            at += timedelta(seconds=rng.randint(10, 240))
            referrer, query = docs_url, ""
    for number, agent in enumerate(_AGENTS):
        growth = 1 - ago / DAYS * 0.8 if agent.user_agent.startswith("claude-code") else 1.0
        for _ in range(round(agent.visits * growth * rng.uniform(0.4, 1.6))):
            at = end - timedelta(hours=rng.uniform(0, 24))
            address = ipaddress.IPv4Address(f"198.51.100.{number * 20 + rng.randrange(20)}")
            if rng.random() < agent.llms:
                yield _sample_view(rng, "/llms.txt", at, address, agent.user_agent)
            for path in _pick_pages(rng, paths, rng.randint(1, 4)):
                markdown = rng.random() < agent.markdown and path != "/"
                at += timedelta(seconds=rng.randint(1, 20))
                yield _sample_view(rng, f"{path}.md" if markdown else path, at, address, agent.user_agent)


def _pick_pages(rng: random.Random, paths: Sequence[str], count: int) -> list[str]:
    return rng.choices(paths, [1 / (rank + 1) for rank in range(len(paths))], k=count)


def _address_of(person: int) -> Address:
    """The address of a person: a network of their own in the range for documentation."""
    return ipaddress.IPv6Address(f"2001:db8:{person:x}::1")


def _language_of(person: int) -> str:
    """The `Accept-Language` of a person. Neighbours differ, since the first people come most often."""
    rest = person * 61 % 100
    for share, language in _LANGUAGES:
        rest -= share
        if rest < 0:
            return language
    raise AssertionError("the shares are not 100 percent")


def _sample_view(rng: random.Random, path: str, at: datetime, address: Address, user_agent: str) -> Observation:
    view_id = f"{rng.getrandbits(128):032x}{secrets.token_hex(4)}"  # a sample that was removed may come again
    return Observation(view_id, path, at, address, user_agent, sample=True)
