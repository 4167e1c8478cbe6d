"""The rules in their order: names, AI families, HTTP libraries, marks of bots, browsers."""

import functools

from analytics.agents import ai_names, bot_names
from analytics.agents.browsers import is_full_browser, looks_like_browser
from analytics.agents.clients import bot_mark, library, searches
from analytics.agents.families import family
from analytics.agents.verdict import LONGEST, Verdict
from analytics.agents.words import Word, Words, client_name, key, read

# Where a string has names of several classes, the first here decides: `Claude-User (claude-code/2.1)` is an agent.
_TABLES = (
    ("ai_agent", ai_names.AGENT),
    ("ai_user", ai_names.USER),
    ("ai_search", ai_names.SEARCH),
    ("ai_training", ai_names.TRAINING),
    ("search_crawler", bot_names.SEARCH),
    ("other_bot", bot_names.OTHER | bot_names.APPS),
)
_RANK = {kind: rank for rank, (kind, _) in enumerate(_TABLES)}


def _table(names: dict[str, str], kind: str) -> dict[str, Verdict]:
    return {
        key(name): Verdict(kind, f"name: {name}", name, "" if operator.startswith("(") else operator)
        for operator, written in names.items()
        for name in written.split(", ")
    }


_NAMED: dict[str, Verdict] = {}
for _kind, _names in reversed(_TABLES):
    _NAMED |= _table(_names, _kind)
_PLAIN = _table(ai_names.PLAIN, "ai_agent")
_APPS = frozenset(_table(bot_names.APPS, "other_bot").values())


def classify(user_agent: str) -> Verdict:
    """The verdict on a user agent; only its first 512 characters count."""
    return _classify(user_agent[:LONGEST])


@functools.lru_cache(maxsize=10_000)
def _classify(user_agent: str) -> Verdict:
    text = " ".join(user_agent.split())
    if not text.isprintable():
        text = "".join(filter(str.isprintable, text))  # what turns the direction of text, or has no width
    if not text:
        return Verdict("http_client", "no user agent")
    found = read(text)
    mark = bot_mark(text, found)
    if verdict := _named(found, shows_pages=not mark and is_full_browser(text)):
        return verdict
    browser = looks_like_browser(text)
    if verdict := family(text, found, plain=browser and not mark):
        return verdict
    if used := library(found):
        return Verdict("http_client", "HTTP library", used[:80])
    if mark:
        return Verdict(
            "search_crawler" if searches(found) else "other_bot", f"mark of a bot: {mark}"[:80], client_name(found)
        )
    if browser:
        return Verdict("human", "looks like a browser")
    return Verdict("http_client", "not a browser", client_name(found))


def _named(found: Words, shows_pages: bool) -> Verdict | None:
    """The verdict on the names in the tables, of several the one whose class comes first."""
    verdicts = [verdict for phrase in found.phrases if (verdict := _NAMED.get(phrase))]
    for word in found.words:
        if verdict := _NAMED.get(word.key) or _plain(word, found) or _longer(word):
            if word.at.device and verdict.client_class == "other_bot":
                continue  # `Retroid Pocket` is a phone
            verdicts.append(verdict)
    if shows_pages:
        verdicts = [verdict for verdict in verdicts if verdict not in _APPS]
    return _foremost(verdicts)


def _plain(word: Word, found: Words) -> Verdict | None:
    """The verdict on a name that is an ordinary word, too."""
    product = word.versioned and not word.at.device and not found.mobile
    return _PLAIN.get(word.key) if product or word.at.declared or word.at.first else None


def _longer(word: Word) -> Verdict | None:
    """The verdict on a listed name with something behind it, `GPTBot-Images`, or before it, `Acme-Diffbot`."""
    if "-" not in word.name:
        return None
    pieces = [key(piece) for piece in word.name.split("-")[:4]]
    names = ["".join(pieces[:end]) for end in range(len(pieces) - 1, 0, -1)] + ["".join(pieces[2:]), pieces[-1]]
    return _foremost([_NAMED[name] for name in names if len(name) >= 6 and name in _NAMED])


def _foremost(verdicts: list[Verdict]) -> Verdict | None:
    return min(verdicts, key=lambda verdict: _RANK[verdict.client_class], default=None)
