"""Nobody can find out whether a word stands in a page that they may not see.

Each surface is asked for words of protected pages, and for as many that stand nowhere, in the same sentences.
With the words replaced, the responses are equal: scores, order, completions, corrections, outcomes and texts.
"""

import json
import os
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import httpx
import jwt
import pytest
from rapidfuzz.distance import OSA
from websockets.sync.client import connect

from tests.variants import first_of

pytestmark = pytest.mark.slow

ORIGIN = "https://docs.acme.example"
WORDS = 50
PUBLIC = {
    "/": "# Install acme\n\nInstall acme with pip, then configure the relay of acme in its file.",
    "/start": "# Start acme\n\nTo start acme, run acme serve and wait for a request.\n\n## Stop acme\n\nPress a key.",
    "/relay": "# The relay\n\nThe relay of acme takes requests. Configure the relay before it starts.",
}
IDS = re.compile(r"\b(?:thr|msg|call|req)_?[-\w]{10,}|\b[0-9a-f]{8}-[0-9a-f-]{27}\b")


def make_words(count: int) -> list[str]:
    """Words of nine letters that have no likeness to words of a language, and too little to each other for a rule."""
    letters = random.Random(41)
    words: list[str] = []
    while len(words) < count:
        kinds = ["qxzj", "qxzj", "aeou", *["bdgkqvwxz", "aeou"] * 3]
        word = "".join(map(letters.choice, kinds))
        if all(word[:4] != other[:4] and OSA.distance(word, other) > 4 for other in words):
            words.append(word)
    return words


STAFF, PARTNERS, ABSENT = (make_words(3 * WORDS)[at::3] for at in range(3))


@dataclass
class Site:
    """A service whose own project has pages for two groups, and a reader of it."""

    url: str
    domain: str
    key: str
    tokens: dict[str, str]
    http: httpx.Client
    reader: str = ""

    @property
    def headers(self) -> dict[str, str]:
        token = self.tokens.get(self.reader)
        return {"Authorization": f"Bearer {self.key}", "Origin": ORIGIN, **({"X-Reader-Token": token} if token else {})}

    def post(self, path: str, body: dict[str, Any], **headers: str) -> str:
        response = self.http.post(f"{self.url}{path}", json=body, headers={**self.headers, **headers})
        assert response.status_code == 200, response.text
        return response.text

    def ask(self, version: str, text: str) -> str:
        body = {"fp": "anonymous", "messages": [{"id": "1", "role": "user", "content": text}], "suggestions": True}
        return self.post(f"/discovery/{version}/assistant/{self.domain}/message", body)

    def call_tool(self, name: str, **arguments: str) -> str:
        """What a coding agent without a key gets."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return self.post(f"/mcp/{self.domain}", body, Authorization="")


@pytest.fixture(scope="module")
def site(start: Any) -> Any:
    from docsite.core.tenants.management.commands.createproject import create_project
    from docsite.core.tenants.models import ReaderKey
    from search.indexing.ingest import ingest
    from search.sources import Page

    domain = f"words-{os.getpid()}"
    project, key, _ = create_project(domain, f"Words {os.getpid()}", ORIGIN, origins=[])
    pages = [Page(path, path, text) for path, text in PUBLIC.items()]
    for group, words in (("staff", STAFF), ("partners", PARTNERS)):
        for number in range(0, WORDS, 5):
            some = words[number : number + 5]
            text = "\n\n".join(f"## Configure the {word}\n\nThe {word} of acme configures a relay." for word in some)
            pages.append(Page(group, f"/{group}/{number}", f"# Relay {some[0]}\n\n{text}", groups=(group,)))
    ingest(project, pages)
    reader_key = ReaderKey.objects.create(project=project, algorithm="HS256")
    claims = {"aud": domain, "exp": time.time() + 3600}
    tokens = {
        name: jwt.encode({**claims, "groups": [name]}, reader_key.secret, "HS256", headers={"kid": reader_key.kid})
        for name in ("staff", "partners")
    }
    service = start(SITE_DOMAIN=domain, SITE_ASSISTANT_KEY=key)
    with httpx.Client(timeout=60, trust_env=False) as http:
        yield Site(service.url, domain, key, tokens, http)


def search(site: Site, word: str) -> list[str]:
    """The word alone and among others, as the last one, as the beginning of one, and misspelt."""
    swapped = word[:4] + word[5] + word[4] + word[6:]
    queries = [word, f"{word} ", f"configure the {word} relay", f"relay {word[:5]}", word[:5], f"start {swapped} acme"]
    queries += [f"relay{word}", f"{word[:4]} {word[4:]}"]
    path = f"/discovery/v1/search/{site.domain}"
    return [site.post(path, {"query": query, "pageSize": 50}) for query in queries]


def ask_on_socket(site: Site, word: str) -> list[str]:
    token = {"readerToken": site.tokens[site.reader]} if site.reader else {}
    question = {"id": "1", "role": "user", "content": f"How do I configure the {word}?"}
    asked = {"type": "ask", "key": site.key, "fp": "anonymous", "messages": [question], **token}
    address = f"{site.url.replace('http', 'ws', 1)}/v1/assistant/{site.domain}/socket"
    with connect(address, additional_headers={"Origin": ORIGIN}) as socket:
        socket.send(json.dumps(asked))
        parts: list[str] = []
        while not parts or json.loads(parts[-1])["type"] not in ("finish", "error", "abort"):
            parts.append(str(socket.recv(timeout=60)))
    return parts


def ask(version: str) -> Callable[[Site, str], list[str]]:
    """A question, the word alone, and a question that ends with its beginning."""
    return lambda site, word: [
        site.ask(version, f"How do I configure the {word} relay of acme?"),
        site.ask(version, word),
        site.ask(version, f"What does acme do with {word[:5]}"),
    ]


def open_search_page(site: Site, word: str) -> list[str]:
    queries = (f"configure the {word} relay before acme starts ", word[:5])
    return [site.http.get(f"{site.url}/search", params={"q": query}).text for query in queries]


def open_ask_page(site: Site, word: str) -> list[str]:
    form = {"question": f"How do I configure the {word} relay of acme?"}
    return [site.http.post(f"{site.url}/ask", data=form, headers={"Origin": site.url}).text]


SURFACES: dict[str, Callable[[Site, str], list[str]]] = {
    "search": search,
    "message v1": ask("v1"),
    "message v2": ask("v2"),
    "socket": ask_on_socket,
    "search_docs": lambda site, word: [
        site.call_tool("search_docs", query=f"configure the {word} relay of acme before it starts")
    ],
    "ask_docs": lambda site, word: [
        site.call_tool("ask_docs", question=f"How do I configure the {word} relay of acme?")
    ],
    "search page": open_search_page,
    "ask page": open_ask_page,
}
WITH_TOKEN = [name for name in SURFACES if not name.endswith(" page")]  # pages are for readers without a token


def normalize(responses: list[str], word: str) -> list[str]:
    """Responses without their ids, and with another word for the one that was asked for."""
    swapped = word[:4] + word[5] + word[4] + word[6:]
    same = "\n\n".join(responses)
    for form in (word, swapped, word[:5], word[:4], word[4:]):
        same = re.sub(form, "WORD", same, flags=re.IGNORECASE)
    return IDS.sub("ID", same).split("\n\n")


@pytest.mark.parametrize("count", [2, pytest.param(WORDS, marks=pytest.mark.matrix)])
@pytest.mark.parametrize(
    ("reader", "surface"), first_of([*product([""], SURFACES), *product(["partners"], WITH_TOKEN)], len(SURFACES))
)
def test_a_word_of_protected_pages_is_like_a_word_that_stands_nowhere(
    site: Site, reader: str, surface: str, count: int
) -> None:
    call = SURFACES[surface]
    site.reader = reader
    expected = normalize(call(site, ABSENT[0]), ABSENT[0])
    differing = {
        word: [pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1]][:1]
        for word in [*STAFF[:count], *ABSENT[:count]]
        if (found := normalize(call(site, word), word)) != expected
    }
    assert not differing, f"{len(differing)} of {2 * count}: {next(iter(differing.items()))}"


@pytest.mark.parametrize("surface", WITH_TOKEN)
def test_its_own_readers_find_the_word(site: Site, surface: str) -> None:
    """Otherwise the test above would prove nothing."""
    site.reader = "partners"
    found = SURFACES[surface](site, PARTNERS[1])
    assert "/partners/" in "".join(found)
