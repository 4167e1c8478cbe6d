"""Random histories of views, and counting them by brute force: what the cells are held against."""

import ipaddress
import random
import uuid
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from analytics.collecting.recording import Observation

AGENTS = {
    "human": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "reader": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
    "crawler": "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "nobody": "curl/8.5.0",
}


@dataclass(frozen=True)
class Seen:
    """A view and who made it, as the tests know it."""

    observation: Observation
    kind: str
    who: tuple[str, str]

    @property
    def at(self) -> datetime:
        return self.observation.at

    @property
    def path(self) -> str:
        return self.observation.raw_path.removesuffix(".md")


def view(at: datetime, path: str, who: int, kind: str, view_id: str = "") -> Seen:
    """A view of a kind. A reader of Markdown is the same visitor as a person at that address."""
    address = ipaddress.ip_address(f"198.51.100.{who}")
    markdown = kind == "markdown"
    agent = "human" if markdown else kind
    observation = Observation(view_id or uuid.uuid4().hex, path + ".md" * markdown, at, address, AGENTS[agent])
    return Seen(observation, "reader" if markdown else kind, (str(address), agent))


def as_reported(seen: Seen) -> dict[str, str]:
    """The view as a server reports it over HTTP."""
    view = seen.observation
    return {
        "id": view.view_id,
        "path": view.raw_path,
        "timestamp": view.at.isoformat(),
        "ip": str(view.address),
        "userAgent": view.user_agent,
    }


def history(dice: random.Random, size: int, days: float, end: datetime) -> list[Seen]:
    """Views of the days before `end`, in the order of time: few visitors and pages, so that they meet often."""
    visitors, paths = dice.randint(1, 12), [f"/page-{n}" for n in range(dice.randint(1, 5))]
    rhythm = [end - timedelta(days=dice.uniform(0, days)) for _ in range(dice.randint(1, 40))]
    found = []
    for _ in range(size):
        at = dice.choice(rhythm) + timedelta(seconds=dice.choice([0, 0, 1, -1, 3599, 3600, dice.uniform(0, 90_000)]))
        if dice.random() < 0.2:
            at = at.replace(minute=0, second=0, microsecond=0)
        kind = dice.choices(["human", "markdown", "reader", "crawler", "nobody"], [50, 15, 15, 10, 10])[0]
        found.append(view(min(at, end - timedelta(seconds=1)), dice.choice(paths), dice.randint(1, visitors), kind))
    return sorted(found, key=lambda seen: seen.at)


def brute(views: list[Seen], start: datetime, end: datetime, *, crawlers: bool = True, distinct: bool = True):
    """Totals and rows as the export tells them."""
    ai = {"reader", "crawler"} if crawlers else {"reader"}
    of_page: dict[str, dict[str, list]] = defaultdict(lambda: {"human": [], "ai": [], "total": []})
    for seen in {seen.observation.view_id: seen for seen in reversed(views)}.values():
        names = ["human"] if seen.kind == "human" else ["ai"] if seen.kind in ai else []
        if names and start <= seen.at < end:
            for path in ("", seen.path):
                for name in [*names, "total"]:
                    of_page[path][name].append(seen.who)
    count = (lambda who: len(set(who))) if distinct else len
    rows = {path: {name: count(who) for name, who in lists.items()} for path, lists in of_page.items()}
    totals = rows.pop("", {"human": 0, "ai": 0, "total": 0})
    ordered = sorted(rows.items(), key=lambda row: (-row[1]["total"], row[0]))
    return totals, [{"path": path, **is_counted} for path, is_counted in ordered]


def hour(at: datetime) -> datetime:
    """The beginning of its hour."""
    return at.replace(minute=0, second=0, microsecond=0)


def windows(dice: random.Random, now: datetime, days: float, count: int) -> list[tuple[datetime, datetime]]:
    """Ranges of whole hours at any age, and ragged ones in the period of raw views."""
    found = []
    while len(found) < count:
        ragged = dice.random() < 0.5
        reach = min(days, 29.5) if ragged else days
        start, end = sorted(now - timedelta(days=dice.choice([1, dice.random()]) * reach * dice.random()) for _ in "ab")
        if not ragged:
            start, end = hour(start), hour(end) + timedelta(hours=1)
        if start < end:
            found.append((start, end))
    return found


def tomorrow() -> datetime:
    """Tomorrow 00:00 UTC."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
