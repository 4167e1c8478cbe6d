"""Apply the rules in their order: MCP clients, names, AI families, HTTP libraries, marks of a bot, browsers."""

import functools

from analytics.agents.assistants import ASSISTANTS
from analytics.agents.browsers import is_full_browser, looks_like_browser
from analytics.agents.clients import find_bot_mark, find_library, is_search_engine
from analytics.agents.families import match_family
from analytics.agents.names import TABLES, Names
from analytics.agents.user_agent_parser import Name, ParsedUserAgent, client_name, normalize, parse
from analytics.agents.verdict import AI_CLASSES, MAX_LENGTH, MCP_MARK, Verdict

# If a user agent has names of several classes, the first class here decides: `Claude-User (claude-code/2.1)` is
# an agent.
_CLASSES = {
    "agent": "ai_agent",
    "user": "ai_user",
    "search": "ai_search",
    "training": "ai_training",
    "search_engines": "search_crawler",
    "other_bots": "other_bot",
    "apps": "other_bot",
}
_RANK = {kind: rank for rank, kind in enumerate(dict.fromkeys(_CLASSES.values()))}


def _build_table(names: Names, kind: str) -> dict[str, Verdict]:
    return {
        normalize(name): Verdict(kind, f"name: {name}", name, "" if operator.startswith("(") else operator)
        for operator, own in names.items()
        for name in own
    }


_BY_NAME: dict[str, Verdict] = {}
for _table, _class in reversed(_CLASSES.items()):
    _BY_NAME |= _build_table(TABLES[_table], _class)
_BY_PLAIN_NAME = _build_table(TABLES["plain"], "ai_agent")
_APPS = frozenset(_build_table(TABLES["apps"], "other_bot").values())


def classify(user_agent: str) -> Verdict:
    """The verdict on a user agent; only its first 512 characters count."""
    return _classify(user_agent[:MAX_LENGTH])


@functools.lru_cache(maxsize=10_000)
def _classify(user_agent: str) -> Verdict:
    text = " ".join(user_agent.split())
    if not text.isprintable():
        text = "".join(filter(str.isprintable, text))  # drops marks of direction and of no width
    if not text:
        return Verdict("http_client", "no user agent")
    if text.endswith(MCP_MARK):
        return _describe_mcp_client(text.removesuffix(MCP_MARK).rstrip())
    parsed = parse(text)
    mark = find_bot_mark(text, parsed)
    if verdict := _match_names(parsed, shows_pages=not mark and is_full_browser(text)):
        return verdict
    browser = looks_like_browser(text)
    if verdict := match_family(text, parsed, plain=browser and not mark):
        return verdict
    if used := find_library(parsed):
        return Verdict("http_client", "HTTP library", used[:80])
    if mark:
        return Verdict(
            "search_crawler" if is_search_engine(parsed) else "other_bot",
            f"mark of a bot: {mark}"[:80],
            client_name(parsed),
        )
    if browser:
        return Verdict("human", "looks like a browser")
    return Verdict("http_client", "not a browser", client_name(parsed))


def describe_signed(claimed: Verdict, host: str, key_id: str) -> Verdict:
    """The verdict on a client that proved to belong to a host. It is AI.

    `claimed`: the verdict on its user agent. It keeps the name it claims if the host belongs to that name's operator;
    else the host is its name.
    """
    sites = ((assistant.operator, site) for assistant in ASSISTANTS for site in assistant.hosts)
    operator = next((operator for operator, site in sites if f".{host}".endswith(f".{site}")), "")
    is_ai = claimed.client_class in AI_CLASSES
    name = claimed.agent if is_ai and operator and operator == claimed.operator else host
    return Verdict(claimed.client_class if is_ai else "ai_agent", f"signature: {key_id}", name, operator)


def _describe_mcp_client(text: str) -> Verdict:
    """The verdict on a client of the MCP server. Whatever its name, it is an agent; the tables know some operators."""
    parsed = parse(text)
    known = _match_names(parsed, shows_pages=False)
    if known and known.client_class in AI_CLASSES:
        return Verdict("ai_agent", "MCP client", known.agent, known.operator)
    return Verdict("ai_agent", "MCP client", client_name(parsed) or "MCP-client")


def _match_names(parsed: ParsedUserAgent, shows_pages: bool) -> Verdict | None:
    """The verdict by the tables of names. Of several names, the first class of `_CLASSES` decides."""
    verdicts = [verdict for phrase in parsed.phrases if (verdict := _BY_NAME.get(phrase))]
    for word in parsed.names:
        if verdict := _BY_NAME.get(word.key) or _match_plain_name(word, parsed) or _match_longer_name(word):
            if word.at.device and verdict.client_class == "other_bot":
                continue  # `Retroid Pocket` is a phone
            verdicts.append(verdict)
    if shows_pages:
        verdicts = [verdict for verdict in verdicts if verdict not in _APPS]
    return _first_by_rank(verdicts)


def _match_plain_name(word: Name, parsed: ParsedUserAgent) -> Verdict | None:
    """The verdict on a name that is also an ordinary word."""
    product = word.versioned and not word.at.device and not parsed.mobile
    return _BY_PLAIN_NAME.get(word.key) if product or word.at.declared or word.at.first else None


def _match_longer_name(word: Name) -> Verdict | None:
    """The verdict on a listed name with a suffix, `GPTBot-Images`, or a prefix, `Acme-Diffbot`."""
    if "-" not in word.name:
        return None
    pieces = [normalize(piece) for piece in word.name.split("-")[:4]]
    names = ["".join(pieces[:end]) for end in range(len(pieces) - 1, 0, -1)] + ["".join(pieces[2:]), pieces[-1]]
    return _first_by_rank([_BY_NAME[name] for name in names if len(name) >= 6 and name in _BY_NAME])


def _first_by_rank(verdicts: list[Verdict]) -> Verdict | None:
    return min(verdicts, key=lambda verdict: _RANK[verdict.client_class], default=None)
