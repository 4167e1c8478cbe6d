"""No link, image or HTML of a model reaches the reader unchecked, however the stream is cut."""

import random
import re
from collections.abc import Sequence
from urllib.parse import quote

import pytest
from markdown_it import MarkdownIt

from assistant.citations.evidence import Passage
from assistant.citations.link_checker import MAX_CHECKS, CitationChecker
from assistant.citations.refusal_phrases import is_refusal
from assistant.wire.events import Source, Text
from search.hits import Hit
from tests.variants import first_of

DOCS = "https://docs.example.com"
KEPT = "https://pypi.example/acme"
OWNER = "https://status.example"

TEXT = """\
Acme runs on Linux and on Windows.
To install acme, run the command below. It needs a network connection. It takes a minute.
pip install acme
acme --check
The check prints the version."""
BODY = (
    "Acme runs on Linux and on Windows.\n\nTo install acme, run the command below. It needs a network connection. "
    f"It takes a minute.\n\n```sh\npip install acme\nacme --check\n```\n\nThe check prints the version. See {KEPT}."
)


def hit(
    path: str = "/a", anchor: str = "part", title: str = "A", text: str = "", body: str = "", above: str = ""
) -> Hit:
    url = f"{DOCS}{path}#{anchor}" if anchor else DOCS + path
    return Hit(path, url, title, "Part", (title, "Part"), body or text, "", 0.9, anchor, text=text, above=(above,))


PLAIN = [hit("/a"), hit("/b", title="B"), hit("/a", anchor="other")]
REAL = [hit("/install", "with-pip", "Install", TEXT, BODY), hit("/other", "", "Other", "Parcels are kept for a week.")]


def rewrite(text: str, size: int = 0, passages: Sequence[Hit] = PLAIN) -> tuple[str, CitationChecker, list[Source]]:
    """The rewritten text, by deltas of some size; every source comes before the text that cites it."""
    citations = CitationChecker(passages, "How do I install acme?", [OWNER, "help@example.com"])
    found, sources = "", []
    deltas = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    for events in [*map(citations.feed, deltas), citations.end()]:
        for event in events:
            if isinstance(event, Text):
                found += event.delta
                assert all(int(n) <= len(sources) for n in re.findall(r"\[(\d)\]\(https://docs", found))
            else:
                sources.append(event)
    return found, citations, sources


LINK = {number: f"[{number}]({DOCS}/{page}#part)" for number, page in ((1, "a"), (2, "b"))}


@pytest.mark.parametrize(
    ("text", "rewritten", "pages"),
    [
        ("So [2] and [1].", f"So [1]({DOCS}/b#part) and [2]({DOCS}/a#part).", "BA"),
        ("Same page [1][3].", f"Same page [1]({DOCS}/a#part)[1]({DOCS}/a#other).", "A"),
        ("Both [1, 2].", f"Both [1]({DOCS}/a#part) [2]({DOCS}/b#part).", "AB"),
        ("So [^2], 【2】, 【2†source】 and [passage 2].", "So @, @, @ and @.".replace("@", f"[1]({DOCS}/b#part)"), "B"),
        ("Invented [1](https://evil.example/x).", f"Invented [1]({DOCS}/a#part).", "A"),
        ("Label [one][1].", f"Label one[1]({DOCS}/a#part).", "A"),
        ("None [7] [0].", "None.", ""),
        ("None [7] of them [0], or [9]", "None of them, or", ""),
        ("[7] At the beginning", "At the beginning", ""),
        ("- [7] item\n- [8]\n", "- item\n- \n", ""),
        ("Is it **so [7]**?", "Is it **so **?", ""),
        ("(see [7])", "(see)", ""),
        ("Use it![1]", f"Use it\\![1]({DOCS}/a#part)", "A"),
        ("Code `a[1]` stays.", "Code `a[1]` stays.", ""),
        ("```\nx[1]\n```\n[1]", f"```\nx[1]\n```\n[1]({DOCS}/a#part)", "A"),
        ("~~~\nx[1]\n```\n~~~\n[1]", f"~~~\nx[1]\n```\n~~~\n[1]({DOCS}/a#part)", "A"),
        ("- a\n  ```\n  x[1]\nout [1]", f"- a\n  ```\n  x[1]\nout [1]({DOCS}/a#part)", "A"),
        ("1. a\n\n   ```\n   x[1]\n\n   y\n   ```\n   [1]",
         f"1. a\n\n   ```\n   x[1]\n\n   y\n   ```\n   [1]({DOCS}/a#part)", "A"),
        ("> ```\n> x[1]\nout [1]", f"> ```\n> x[1]\nout [1]({DOCS}/a#part)", "A"),
        ("Over `two\nlines[1]` [1]", f"Over `two\nlines[1]` [1]({DOCS}/a#part)", "A"),
        ("An `open span\n\nthen [1]", f"An \\`open span\n\nthen [1]({DOCS}/a#part)", "A"),
        ("An `open span [1]\n- `item", f"An \\`open span [1]({DOCS}/a#part)\n- \\`item", "A"),
        ("| a | b |\n|---|---|\n| `x | y[1]` |", f"| a | b |\n|---|---|\n| \\`x | y[1]({DOCS}/a#part)\\` |", "A"),
        ("Run `a | b[1]` twice.", "Run `a | b[1]` twice.", ""),
        ("A [ ] box, a[i], 1 < 2 & 3, me@home, R&D; and/or.", "A [ ] box, a[i], 1 < 2 & 3, me@home, R&D; and/or.", ""),
        ("Ends open [", "Ends open [", ""),
        ("Ends open [1", "Ends open [1", ""),
        ("Ends open `", "Ends open \\`", ""),
        ("A [link](https://x.example) here", "A link here", ""),
        ("A [ref][r] here\n\n[r]: https://x.example 'T'\nmore", "A ref here\n\n\nmore", ""),
        ("See https://x.example/a?b. Or www.x.example, or <https://x.example>!", "See. Or, or!", ""),
        ("See [the help](https://status.example) or https://pypi.example/acme.",
         "See [the help](https://status.example) or.", ""),
        ("See [page B](https://docs.example.com/b).", f"See page B [1]({DOCS}/b#part).", "B"),
        ("See https://docs.example.com/b#x.", f"See [1]({DOCS}/b#part).", "B"),
        ("Write to help@example.com or to me@x.example.", "Write to help@example.com or to me.", ""),
        ("Write to <mailto:help@example.com>.", "Write to <mailto:help@example.com>.", ""),
        ("An ![image](https://x.example/i.png) and ![](https://x.example/p.gif).", "An image and.", ""),
        ("<script>x</script> <b> <!-- x --> <?x", "\\<script>x\\</script> \\<b> \\<!-- x --> \\<?x", ""),
        ("[a](javascript:alert(1)) [b](JaVaScRiPt&colon;x) [c](//evil.example) [d](data:x)", "a b c d", ""),
        ("Windows\r\nlines\rtoo [1]", f"Windows\nlines\ntoo [1]({DOCS}/a#part)", "A"),
    ],
)  # fmt: skip
def test_citations_and_links_are_checked_and_the_text_stays_readable(text: str, rewritten: str, pages: str) -> None:
    for size in (0, 1, 2, 3, 7):
        found, citations, sources = rewrite(text, size)
        assert found == rewritten, size
        assert [source.title for source in sources] == list(pages)
        assert [source.number for source in sources] == list(range(1, len(pages) + 1))
        assert citations.sources == sources


@pytest.mark.parametrize(
    "text", ["So [2] [9] and `a` ![i](x) <b> https://x.example/y.\n\n```\n[1]\n```\n| a |\n|---|\n[a](b)"]
)
def test_every_cut_gives_the_same(text: str) -> None:
    whole, citations, _ = rewrite(text)
    for at in range(len(text)):
        again = CitationChecker(PLAIN, "How do I install acme?")
        parts = [*again.feed(text[:at]), *again.feed(text[at:]), *again.end()]
        assert "".join(part.delta for part in parts if isinstance(part, Text)) == whole, at
        assert again.checks == citations.checks


@pytest.mark.matrix
@pytest.mark.parametrize(
    "text", ["Of ~5 MB ~~old~~ ~x~ ~www.evil.example ~http://evil.example ~mailto:a@b.example `~` ~~~ x"]
)
def test_each_piece_of_a_text_with_tildes_gives_the_same(text: str) -> None:
    whole, citations, _ = rewrite(text)
    assert "~5 MB ~~old~~ ~x~" in whole
    for at in range(len(text)):
        for size in range(1, 12):
            again = CitationChecker(PLAIN, "How do I install acme?")
            pieces = (text[:at], text[at : at + size], text[at + size :])
            parts = [*(part for piece in pieces for part in again.feed(piece)), *again.end()]
            assert "".join(part.delta for part in parts if isinstance(part, Text)) == whole, (at, size)
            assert again.checks == citations.checks


def test_plain_text_flows_through_at_once() -> None:
    citations = CitationChecker(PLAIN)
    words = ["Install", " the", " package", ",", " then", " run", " it", ".\n", "\n", "Done", " and", " dusted"]
    lag, said = 0, ""
    for count, word in enumerate(words, 1):
        said += "".join(event.delta for event in citations.feed(word) if isinstance(event, Text))
        lag = max(lag, len("".join(words[:count])) - len(said))
    assert lag <= 1
    assert said == "".join(words)


# ---- What any renderer could make of it. ----

_RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# Where GitHub's renderer and others look for addresses in plain text: also in what was escaped or written as entities.
_BARE = re.compile(
    r"(?:https?|ftp)://[^\s<]+|www\.+[\w-][^\s<]*|(?:mailto|xmpp):[^\s<]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE
)


def leads_to(markdown: str) -> list[str]:
    """Every address that a rendered text leads to or loads; HTML counts as one."""
    found = []
    for block in _RENDERER.parse(markdown):
        text, depth = "", 0
        for token in [block, *(block.children or [])]:
            if token.type == "link_open":
                found.append(str(token.attrs["href"]))
            elif token.type == "image":
                found.append(f"image {token.attrs['src']}")
            elif token.type.startswith("html"):
                found.append(f"html {token.content}")
            depth += token.nesting if token.type.startswith("link_") else 0
            if token.type in ("text", "text_special") and not depth:
                text += token.content
            elif token.type not in ("text", "text_special", "inline"):
                text += " "
        found += _BARE.findall(text)
    return found


def allowed(address: str) -> bool:
    address = re.sub(r"[?!.,:;*_~')]+$", "", address)
    if address.startswith(DOCS):
        return address.partition("#")[0] in {f"{DOCS}/install", f"{DOCS}/other"}
    return address in {KEPT, OWNER, "help@example.com", "mailto:help@example.com"}


HOSTILE = [
    "[x](https://evil.example)", "[x]( <https://evil.example> 'a')", "![x](https://evil.example/p.png)",
    "[x](java\nscript:alert(1))", "[x](JAVASCRIPT:alert(1))", "[x](&#106;avascript:x)", "[x](\\//evil.example)",
    "[x](//evil.example)", "[x](data:text/html,x)", "<https://evil.example>", "https://evil.example/?q=",
    "WWW.evil.example", "//evil.example", "http:\\/\\/evil.example", "https&#58;//evil.example",
    "https&colon;//evil.example", "https:&sol;&sol;evil.example", "https\\://evil.example", "www&period;evil.example",
    "www\\.evil.example", "me@evil.example", "me&commat;evil.example", "me\\@evil.example", "mailto:me@evil.example",
    "xmpp:me@evil.example", "ftp://evil.example", "[x][r]", "[r]", "![x][r]", "[r]: https://evil.example",
    "[r]:\nhttps://evil.example", "[1]: https://evil.example", "[r]: <https://evil.example> 'x'",
    "<a href=https://evil.example>", "<img src=//evil.example>", "<!--", "-->", "</div>", "<script", "[", "]", "](",
    "](https://evil.example)", "[[x](https://evil.example)](https://evil.example)", "![", "!", "(", ")", "`", "``",
    "```", "````", "~~~", "~~", "\\", "\\`", "&", "#58;", "&#", ";", "<", ">", "|", "\n", "\n", "\n", "\n\n", " ",
    "    ", "\t", "- ", "1. ", "2. ", "> ", "* ", "+ ", "# ", "---", "===", "\n---\n", "|---|---|", "| a | b |",
    "\n|---|---|\n", "\n```\n", "\n~~~\n", "```sh\n", "[1]", "[2]", "[9]", "[^2]", "【2†source】", "【", "[1, 9]",
    "[1](x)", "![1]", "![1](x)", "[9](evil)", "ht", "tps://evil.example", "ww", "w.evil.example", "https:", "/", ":",
    ".", "@", "a", "word", " is so. ", "*", "_", "**", KEPT, OWNER, f"[x]({KEPT})", f"<{KEPT}>", f"[`x`]({OWNER})",
    f"[https://evil.example]({OWNER})", f"{KEPT}\u00a0evil", f"{KEPT}é", "help@example.com", f"{DOCS}/install",
    f"[y]({DOCS}/install#with-pip)", f"{DOCS}/install/evil", f"{DOCS}/install?x=evil", f"{DOCS}@evil.example",
    "日本語。", "\u00a0", "\x0b", "\x0c", "\u2028", "~", "~~[9]~x\n", "``x``[9]`", "``` a|b\n-|-\n", "\n-|-\n",
]  # fmt: skip


@pytest.mark.parametrize("seed", first_of(range(30), 1))
def test_nothing_that_a_model_writes_becomes_a_link_of_its_own(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        text = "".join(chance.choices(HOSTILE, k=chance.randint(1, 14)))
        whole, citations, _ = rewrite(text, passages=REAL)
        assert [address for address in leads_to(whole) if not allowed(address)] == [], (text, whole)
        size = chance.choice([1, 1, 2, 3, 5, 8])
        cut, again, _ = rewrite(text, size, passages=REAL)
        assert (cut, again.checks) == (whole, citations.checks), (text, size)


@pytest.mark.parametrize(
    "removed", ["[9]", "[](https://evil.example)", "<https://evil.example>", "![x](y)", "[~](evil)"]
)
@pytest.mark.parametrize(
    "text",
    [
        "~~{}~x\n~~~\n[x](https://evil.example) <img src=//evil.example>\n",
        "Use ``x``{}`[x](https://evil.example)` now",
        "``{}`x\n```\n[x](https://evil.example)\n",
        "Hello.\n\n``` a|b{}\n-|-\n[x](https://evil.example)\n",
        "~~~ a|b\n-|-\n[x](https://evil.example)\n{}",
    ],
)
def test_what_surrounds_a_removed_piece_joins_to_no_code(text: str, removed: str) -> None:
    text = text.format(removed)
    for size in (1, 2, 7, 1000):
        whole, *_ = rewrite(text, size, passages=REAL)
        assert leads_to(whole) == [], (whole, size)


@pytest.mark.parametrize(
    "text",
    [
        "+ e```|b\n-|-\n[x](https://evil.example)```",
        "> a|`b\n-|-\n[x](https://evil.example)`",
        "A|`b\n---\n[x](https://evil.example)`",
        "> |`b\n> ---\n> [x](https://evil.example)`",
        "# a|\n---\n`b\n[x](https://evil.example)`",
        f"{'word ' * 100}|`b\n---\n[x](https://evil.example)`",
    ],
)
def test_tables_that_only_some_renderers_see_hold_no_link(text: str) -> None:
    for size in (1, 3, 1000):
        whole, *_ = rewrite(text, size, passages=REAL)
        assert leads_to(whole) == [], (whole, size)


@pytest.mark.parametrize(
    "text", ["| a | b |\n|---|---|\n| 1 | 2 |\n---\n", "Title\n---\n\nText", "> Title\n> ---\n", "a|b\n\n---\n"]
)
def test_real_tables_titles_and_rules_stay(text: str) -> None:
    assert rewrite(text)[0] == text


def test_a_block_of_suggestions_is_not_joined_from_pieces() -> None:
    for removed in ("[9]", "<https://evil.example>"):
        whole, *_ = rewrite(f"~~{removed}~suggestions\nWhy?\n~~~\n", passages=REAL)
        assert not [block for block in _RENDERER.parse(whole) if block.info == "suggestions"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "piece",
    ["[", "the [1] ", "![", "`` ` ", "> ", "<a", "[x](", "a@", "//", "https://", "\\", "&#", "- `\n", "\t"],
)
@pytest.mark.parametrize("size", [3, 100_000])
def test_a_long_hostile_answer_ends(piece: str, size: int) -> None:
    """A second look at all that came before, for each piece, would take minutes."""
    text = (piece * 100_000)[:100_000]
    found, citations, _ = rewrite_fast(text, size)
    assert [address for address in _BARE.findall(found[:5_000]) if "evil" in address] == []
    assert len(citations.checks) <= MAX_CHECKS


def rewrite_fast(text: str, size: int) -> tuple[str, CitationChecker, list[Source]]:
    citations = CitationChecker(REAL, "How do I install acme?")
    found: list[str] = []
    for at in range(0, len(text), size):
        found += [event.delta for event in citations.feed(text[at : at + size]) if isinstance(event, Text)]
        assert len(citations._pending) < 5_000
    found += [event.delta for event in citations.end() if isinstance(event, Text)]
    return "".join(found), citations, citations.sources


# ---- Which sentence supports a claim, and how a link leads there. ----


def checks(text: str, *passages: Hit, question: str = "How do I install acme?") -> list[dict[str, str]]:
    citations = CitationChecker(passages or REAL, question)
    assert list(citations.feed(text)) is not None
    list(citations.end())
    return citations.checks


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("You need a network connection to set it up [1].", "It needs a network connection."),
        ("It takes about a minute. [1] Then go on.", "It takes a minute."),
        ("- Use `pip install acme` [1]", "pip install acme"),
        ("| Step | Command |\n|---|---|\n| print the version | `acme --check` [1] |", "acme --check"),
        ("## Windows and Linux [1]", "Acme runs on Linux and on Windows."),
        ("[1]", "To install acme, run the command below."),
        ("Yes [1].", "To install acme, run the command below."),
        ("`x = 5` [1]", "To install acme, run the command below."),
        ("Man braucht eine Verbindung zum Netz, und das ist nach einer Minute fertig [1].", "It takes a minute."),
        ("Man braucht eine Verbindung zum Netz, und das ist bald gut [1].", "To install acme, run the command below."),
    ],
)  # fmt: skip
def test_a_marker_leads_to_the_sentence_that_supports_its_claim(text: str, sentence: str) -> None:
    (check,) = checks(text)
    assert check["sentence"] == sentence
    assert check["url"].startswith(f"{DOCS}/install#with-pip:~:text=")


def test_markers_in_a_row_weigh_the_passage_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    original = Passage._content_terms
    monkeypatch.setattr(Passage, "_content_terms", lambda *given: texts.append(given[1]) or original(*given))
    assert len(checks("It takes a minute to install acme" + " [1]" * 100)) == 100
    assert len(texts) < 20, "the claim, each sentence and the question"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The moon is made of green cheese that mice have eaten [1].", "shares too few terms with the passage"),
        ("Bananas grow in Ecuador [1].", "shares too few terms with the passage"),
        ("A network is made of cheese [1].", "shares too few terms with the passage"),
        ("It takes about 500 minutes to install [1].", "has a number that the passage lacks"),
        ("Die Installation dauert ungefähr 500 Minuten, sagt die Seite [1].", "has a number that the passage lacks"),
        ("The documentation does not cover how to install acme [1].", "says that it is not documented"),
        ("Install it [7].", "no such passage"),
        ("[acme](https://evil.example)", "not in the passages"),
        ("![acme](https://evil.example)", "images are not shown"),
        ("https://evil.example", "not in the passages"),
    ],
)
def test_a_failed_check_removes_the_citation_and_records_the_reason(text: str, reason: str) -> None:
    (check,) = checks(text)
    assert check["dropped"] == reason
    assert set(check) == {"written", "dropped"}


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("The documentation does not cover this.", True),
        ("The provided passages don't mention any price.", True),
        ("This is not described in the documentation.", True),
        ("I couldn't find anything about it.", True),
        ("I don't know.", True),
        ("There is no information about refunds.", True),
        ("If there are no details in the documentation, ask.", False),
        ("Snapshots that are older than that and not included in the docs folder are deleted.", False),
        ("Pages do not include drafts.", False),
        ("The API does not mention deleted users in its answers.", False),
        ("See the documentation for what is covered.", False),
        ("Do not run it twice.", False),
    ],
)
def test_refusals_are_distinguished_from_statements_about_the_product(text: str, unknown: bool) -> None:
    assert is_refusal(text) is unknown


def fragment(sentence: str, text: str, above: str = "", body: str = "") -> str:
    citations = CitationChecker([hit(text=text, above=above, body=body)])
    link, _ = citations.cite(0, sentence)
    return link.removeprefix(f"[1]({DOCS}/a#part").removesuffix(")")


@pytest.mark.parametrize(
    ("sentence", "text", "above", "wanted"),
    [
        ("It is so-so, really.", "It is so-so, really.", "", ":~:text=It%20is%20so%2Dso%2C%20really"),
        ("Don't use the (old) name here.", "Don't use the (old) name here.", "",
         ":~:text=use%20the%20%28old%29%20name%20here"),
        ("It works.", "First. It works.", "It works.", ":~:text=First.-,It%20works"),
        ("It works.", "It works.", "", ":~:text=It%20works"),
        ("It works.", "It works.", "It works.\nBeside it", ":~:text=Beside%20it-,It%20works"),
        ("It works.", "It works.", "It works.\nPart", ""),  # a heading, with a link behind it that may be text
        ("acme --check", "acme --check", "", ":~:text=acme%20%2D%2Dcheck"),
        ("w1 " * 30 + "end one two.", "w1 " * 30 + "end one two.", "", ":~:text=w1%20w1%20w1,end%20one%20two"),
        ("次の命令。", "概要です。\n次の命令。", "", ":~:text=" + quote("次の命令")),
        ("Ça marche ici.", "First. Ça marche ici.", "ca marche ici", ":~:text=First.-,%C3%87a%20marche%20ici"),
        ("Not there.", "Something else entirely.", "", ""),
    ],
)  # fmt: skip
def test_a_fragment_names_words_as_every_browser_shows_them(sentence: str, text: str, above: str, wanted: str) -> None:
    body = "```\nacme --check\n```" if "--check" in text else ""
    assert fragment(sentence.strip(), text, above, body) == wanted


def test_a_fragment_of_code_ends_at_a_wide_gap() -> None:
    """A browser compares code as it is written, with every blank."""
    body = "```\nkey  svc one more word\n```"
    assert fragment("key svc one more word", "key svc one more word", body=body) == ":~:text=svc%20one%20more%20word"


def test_passages_that_are_added_are_cited_like_the_first():
    citations = CitationChecker(REAL[1:])
    text = "To install acme, run the command [2]. See [pip](https://pypi.example/acme) and [it](/install)."
    before = "".join(event.delta for event in [*citations.feed(text), *citations.end()] if isinstance(event, Text))
    assert before == "To install acme, run the command. See pip and it."
    citations.add_passages(REAL[:1])
    after = "".join(event.delta for event in [*citations.feed(text), *citations.end()] if isinstance(event, Text))
    assert after.startswith(f"To install acme, run the command [1]({DOCS}/install#with-pip")
    assert f"[pip]({KEPT})" in after
    assert [source.title for source in citations.sources] == ["Install"]
