"""What models write around a citation: shapes of markers are understood, numbers of the text stay."""

import re

import pytest

from assistant.citations import addresses
from assistant.citations.link_checker import CitationChecker
from assistant.citations.refusal_phrases import find_answered_part
from assistant.wire.events import Text
from search.hits import Hit

DOCS = "https://docs.example.com"
SERVE = (
    "The server listens on port 8000. Set the port with --port. Custom stores can be written in Python. "
    "rows[1] is the second row of [1, 2]. See note (2)."
)
PASSAGES = [
    Hit(f"/{name}", f"{DOCS}/{name}", name.title(), "", (name.title(),), text, "", 0.9, "", text=text)
    for name, text in (("install", "To install acme, run pip. It takes a minute."), ("serve", SERVE))
]
LISTENS = "The server listens on port 8000"


def rewrite(text: str, size: int = 0, question: str = "Can I use port 9443 for 80x25?", selected: str = "") -> str:
    """The answer as a reader gets it, with `@2` for a link to the second passage."""
    citations = CitationChecker(PASSAGES, question, (), selected)
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    events = [event for piece in pieces for event in citations.feed(piece)] + citations.end()
    written = "".join(event.delta for event in events if isinstance(event, Text))
    for number, hit in enumerate(PASSAGES, 1):
        written = re.sub(rf"\[\d\]\({hit.url}(?:#[^)]*)?\)", f"@{number}", written)
    return written


@pytest.mark.parametrize(
    "marker",
    ["[2]", "[citation:2]", "[doc2]", "[Document 2]", "[ID:2]", "[source: 2]", "［2］", "\\[2\\]", "(2)", "(Passage 2)",
     "[Passage number 2]", "[第2段]", "【第2段】", "[Quelle 2]", "[fuente 2]", "[ref. 2]", "[#2]", "【2†a】"],
)  # fmt: skip
@pytest.mark.parametrize("end", [".", ""])
def test_every_shape_of_a_marker_becomes_a_link(marker: str, end: str) -> None:
    for size in (0, 1, 2, 3, 5):
        assert rewrite(f"{LISTENS} {marker}{end}", size) == f"{LISTENS} @2{end}"


@pytest.mark.parametrize(
    "text",
    [
        "Take a ratio in [0, 1] of it.", "Take one of [0, 100].", "Its ids are [1, 2].",
        "So argv[0], rows[0] and rows[1].",
        'Send {"ids": [1, 2]} to it.', "It matches [0-9]+ and [1-9]+ signs.", "A part [10, 20] of it.",
        "It is x = [1].",
        "From [1, 2] rows.", "It calls f([1, 2]) and [[1, 2], [1, 2]].", "(1) Run it, (2) stop it.",
        "Call f(1) or f (2) now.", "The server listens on a port, see note (2).",
        "Bananas grow in Ecuador (2).", "Open \\(x\\) and \\[x = 1\\].", "Sources:\n- Git\n- Mail",
        "The number of workers for the server (2), then restart.",
        "See (the passages).",
        "A source (optional).", "Numbers [2000] and [0-9].",
    ],
)  # fmt: skip
def test_numbers_of_the_text_stay(text: str) -> None:
    for size in (0, 1, 2, 3, 5):
        assert rewrite(text, size) == text


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("Take one of [0, 8000] [2].", "Take one of [0, 8000] @2."),
        (f"{LISTENS} [2, 9].", f"{LISTENS} @2."),
        (f"{LISTENS} [citation:9].", f"{LISTENS}."),
        (f"{LISTENS} (passage 9).", f"{LISTENS}."),
        (f"{LISTENS}[^2].\n\n[^2]: Serve\n[^9]: Other\n", f"{LISTENS}@2.\n\n\n\n"),
        (f"{LISTENS}.\n\n[^2]: Serve", f"{LISTENS}.\n\n@2 Serve"),
        (f"{LISTENS}.\n\n[^9]: Serve", f"{LISTENS}.\n\n"),
        (f"{LISTENS} [2].\n\nSources:\n[2] Serve\n\n- [1] Install\n", f"{LISTENS} @2.\n\n"),
        (f"{LISTENS} [2].\n\n**Quellen**\n1. [2] Serve\nMore.", f"{LISTENS} @2.\n\nMore."),
        (f"{LISTENS} [2].\n\n## References\n\n[2]: Serve", f"{LISTENS} @2.\n\n"),
        (f"{LISTENS} [2].\n\nSo it is.\nSources are kept.", f"{LISTENS} @2.\n\nSo it is.\nSources are kept."),
        ("Sources: [1], [2]", "Sources: @1, @2"),
        ("To install acme, run pip, set the port (Passages 1 and 2).", "To install acme, run pip, set the port @1 @2."),
        (
            "[1]: To install acme you run pip first.\n\n[2]: The server listens on port 8000 by then.",
            "@1 To install acme you run pip first.\n\n@2 The server listens on port 8000 by then.",
        ),
        (
            f"{LISTENS} [2].\n\nReferences\n\n- [3rd party tools](/x) start it.",
            f"{LISTENS} @2.\n\nReferences\n\n- 3rd party tools start it.",
        ),
    ],
)
def test_markers_without_a_passage_go_with_their_lists(text: str, rewritten: str) -> None:
    for size in (0, 1, 2, 3, 5):
        assert rewrite(text, size) == rewritten


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("Listen on port `9443` with `--port 9443` [2].", True),
        ("Listen on port 9443 by setting it [2].", True),  # the question's number
        ("Listen on port 7777 by setting it [2].", True),  # the selection's
        ("Listen on port 5432 by setting it [2].", False),
        ("A grid of 80 x 25 on port 7777 is set with the port [2].", True),  # 80x25 in the question
        ("Set the port: 8000 + 443 = 8443 [2].", True),  # a result
        ("Der Server horcht auf Port 8.000, wie es die Seite sagt [2].", True),
        ("Der Server horcht auf Port 5432, wie es die Seite sagt [2].", False),
        ("Not out of the box: the documentation names no Redis store, but a custom store can be written [2].", True),
        ("The documentation does not mention Redis; however, custom stores can be written in Python [2].", True),
        ("The docs don't mention Redis, but the passages do not mention a custom store [2].", False),
        ("The documentation does not mention a custom store [2].", False),
    ],
)
def test_a_true_sentence_keeps_its_citation(text: str, stays: bool) -> None:
    assert ("@2" in rewrite(text, selected="port: 7777")) is stays


def test_a_passage_that_the_model_has_not_seen_is_not_cited() -> None:
    citations = CitationChecker(PASSAGES)
    citations.shown = {1}
    events = [*citations.feed(f"{LISTENS} [2]. To install acme, run pip [1]."), *citations.end()]
    written = "".join(event.delta for event in events if isinstance(event, Text))
    assert written.startswith(f"{LISTENS}. To install acme, run pip [1]({DOCS}/install")
    assert citations.checks[0] == {"written": "[2]", "dropped": "no such passage"}


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("It is usually http:// or https://", "It is usually `http://` or `https://`"),
        ("Now open http://localhost:8000/ in a browser.", "Now open `http://localhost:8000/` in a browser."),
        ("Use redis://localhost:6379/0.", "Use `redis://localhost:6379/0`."),
        ("Use <http://127.0.0.1:8000>, or (http://cache/)!", "Use `http://127.0.0.1:8000`, or (`http://cache/`)!"),
        ("Or [http://localhost](http://localhost).", "Or `http://localhost`."),
        ("`a`http://localhost`b`", "`a` `http://localhost` `b`"),
        ("| http://10.0.0.1/a|b |", "| `http://10.0.0.1/a`|b |"),
        ("See https://evil.example/ or redis://evil.example/0 now.", "See or now."),
        ("See http://localhost@evil.example/ now.", "See now."),
    ],
)
def test_an_address_at_home_is_shown_as_code(text: str, rewritten: str) -> None:
    for size in (0, 1, 2, 3, 5):
        assert rewrite(text, size) == rewritten


@pytest.mark.parametrize(
    ("address", "is_private"),
    [("http://localhost", True), ("https://a.internal:9/", True), ("redis://:pw@cache:6379/0", True),
     ("ws://[::1]/", True),
     ("file:///etc/hosts", True), ("http://evil.example", False), ("http://evil.example#@localhost", False),
     ("http://evil.example\\@localhost", False), ("javascript://localhost", False), ("http://2130706433/", False)],
)  # fmt: skip
def test_only_hosts_at_home_are_private(address: str, is_private: bool) -> None:
    assert addresses.is_private(address) is is_private


def test_the_answered_part_of_a_sentence() -> None:
    assert find_answered_part("It works.") == "It works."
    assert find_answered_part("The docs do not cover this, but it works.") == "it works."
    assert find_answered_part("The docs do not cover this.") == ""
