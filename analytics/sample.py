"""A month of made-up visitors for the demo, marked as sample."""

import ipaddress
import random
import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from analytics.collect import Observation, record
from docsite.projects.models import Project

_PEOPLE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Mobile/15E148 Safari/604.1",
)
_AGENTS = (
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
    "Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)",
    "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "claude-code/2.0.31",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "curl/8.5.0",
)
_DAYS, _VISITS_A_DAY = 30, 40


def make_sample_views(project: Project, paths: Sequence[str]) -> int:
    """Record about a month of visits to the given pages; returns how many views. The same every time but for ids."""
    dice = random.Random(7)
    weights = [1 / (rank + 1) for rank in range(len(paths))]
    now = timezone.now()
    seen = []
    for day in range(_DAYS):
        for _ in range(dice.randint(_VISITS_A_DAY // 2, _VISITS_A_DAY)):
            agent = dice.random() < 0.3
            address = ipaddress.IPv4Address(int(ipaddress.IPv4Address("198.51.100.0")) + dice.randint(0, 255))
            at = now - timedelta(days=day, minutes=dice.randint(1, 1400))
            user_agent = dice.choice(_AGENTS if agent else _PEOPLE)
            for path in dice.choices(paths, weights, k=dice.randint(1, 4)):
                at += timedelta(seconds=dice.randint(5, 90))
                markdown = dice.random() < (0.4 if agent else 0.02)
                raw = f"{path}.md" if markdown and path != "/" else path
                seen.append(Observation(uuid.uuid4().hex, raw, min(at, now), address, user_agent, sample=True))
    seen.sort(key=lambda view: view.at)
    for start in range(0, len(seen), 500):
        record(project, seen[start : start + 500])
    return len(seen)
