"""Answers without a model: the documentation's own words, quoted whole and cited."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote, urlsplit, urlunsplit

from assistant.answering.phrases import sentences
from assistant.citations.checker import Citations
from assistant.events import Source, Text
from assistant.question import Voice
from search.hits import Hit
from search.text import analysis
from search.text.markdown.reader import blocks, is_code
from search.text.markdown.visible import plain

MOST_SOURCES = 5  # pages
MOST_PASSAGES = 3  # quoted
NEAR_THE_BEST = 0.6  # a further one must score this share of the first
WORDS = (160, 70, 70)  # about how much of each passage is quoted; code is never cut
WORDS_A_LINE = 4  # what a line of code counts
MOST_BLOCKS = 12
SENTENCE = 3  # words
LONG = 14  # rows of a table, points of a list: of a longer one those are shown that answer
SHOWN = 6

Terms = Mapping[str, float]

_SENTENCE = re.compile(r"\n|(?<=[.!?])\s+")
_TITLE = re.compile(r"\*\*[^*\n]+\*\*")  # a tab, an accordion, an admonition: what follows belongs to it
_INFO = re.compile(r"\A(\s*(?:```+|~~~+))[ \t]*([\w+#.-]*)[^\n`]*")  # of a block of code: its language, and what else
_SIGN = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=[#\w])|(?<=\w):(?=//)|^[#>+-](?=\s)")
_POINT = re.compile(r"(?m)^[-*+] ")


def answer(wanted: str, citations: Citations) -> Iterator[Source | Text]:
    """Quote the passages that answer what is wanted, best first, each with its citation; then name further pages."""
    passages = citations.passages
    near: dict[str, int] = {}  # by section: the parts of a long one are one
    for index, hit in enumerate(passages):
        if hit.score >= NEAR_THE_BEST * passages[0].score and hit.body:
            near.setdefault(hit.url, index)
    quoted = list(near.values())[:MOST_PASSAGES] or [0]
    for position, index in enumerate(quoted):
        hit = passages[index]
        shown = excerpt(wanted, hit, WORDS[position])
        link, new = citations.cite(index, _telling_sentence(wanted, hit, shown))
        yield from new
        gap = "\n\n" if position else ""
        yield Text(f"{gap}**{_plain(' › '.join(dict.fromkeys(hit.breadcrumb)))}** {link}\n\n")
        for number, block in enumerate(shown):
            yield Text(("\n\n" if number else "") + block)
    yield from _see_also(wanted, citations, quoted)


def _see_also(wanted: str, citations: Citations, quoted: Sequence[int]) -> Iterator[Source | Text]:
    """The further pages that were found, each by its best passage."""
    passages = citations.passages
    pages = {passages[index].path for index in quoted}
    others = {hit.path: index for index, hit in reversed(list(enumerate(passages))) if hit.path not in pages}
    further = sorted(others.values())[: MOST_SOURCES - len(pages)]
    for position, index in enumerate(further):
        hit = passages[index]
        link, new = citations.cite(index, _telling_sentence(wanted, hit, [hit.body]))
        yield from new
        begin = "" if position else f"\n\n{sentences(passages).also}\n"
        yield Text(f"{begin}\n- {_plain(' › '.join(dict.fromkeys(hit.breadcrumb)))} {link}")


def refusal(hits: Sequence[Hit], voice: Voice, thread_id: str) -> Iterator[Text]:
    """Say that the documentation has no answer, and where to look instead. Cites nothing."""
    yield Text(sentences(hits).unknown)
    yield from instead(hits, voice, thread_id)


def instead(hits: Sequence[Hit], voice: Voice, thread_id: str) -> Iterator[Text]:
    """What the owner says where there is no answer, the nearest pages, and whom to ask."""
    if voice.deflection:
        yield Text(f"\n\n{voice.deflection}")
    pages = list({hit.path: hit for hit in hits}.values())[:3]
    if pages:
        listed = "\n".join(f"- [{_plain(hit.title)}]({hit.url.partition('#')[0]})" for hit in pages)
        yield Text(f"\n\n{sentences(hits).nearest}\n\n{listed}")
    if voice.support_url:
        link = support_link(voice.support_url, thread_id)
        yield Text(f"\n\n{sentences(hits).help.format(link=link)}")


def support_link(support: str, thread_id: str) -> str:
    """An address for help: a web address that tells the conversation as `threadId`, or that of a mail."""
    parts = urlsplit(support)
    if parts.scheme not in ("http", "https"):
        return support if parts.scheme == "mailto" else f"mailto:{quote(support, safe='@+')}"
    query = f"{parts.query}&" if parts.query else ""
    return urlunsplit(parts._replace(query=f"{query}threadId={thread_id}")).replace("(", "%28").replace(")", "%29")


def excerpt(wanted: str, hit: Hit, words: int) -> list[str]:
    """The blocks of a section that answer best: from the most telling one on, with what belongs to it."""
    parts = blocks(hit.body.split("\n"))
    if not parts:
        return [hit.excerpt]
    terms = _terms(wanted, hit, parts)
    telling = [_likeness(terms, part, hit) for part in parts]
    best = max(range(len(parts)), key=lambda i: (telling[i], -i))
    parts = [_INFO.sub(_language, _essence(part, terms, hit), count=1) for part in parts]
    under = max((i for i in range(best + 1) if _TITLE.fullmatch(parts[i].strip())), default=0)
    start = best
    while start > under and (is_code(parts[start]) or parts[start - 1].rstrip().endswith(":")):
        start -= 1  # code belongs to the words that lead to it
    if sum(_size(part) for part in parts[under : start + 1]) <= words:
        start = under  # the beginning fits too, and reads better
    chosen: list[str] = []
    left = words
    for number, part in enumerate(parts[start:], start):
        belongs = chosen and (is_code(part) or chosen[-1].rstrip().endswith(":"))
        over = (
            left <= 0 or _size(part) > left + words // 2 or _TITLE.fullmatch(part.strip()) or len(chosen) >= MOST_BLOCKS
        )
        if number > best and over and not belongs:
            break
        chosen.append(part)
        left -= _size(part)
    return chosen


def _language(info: re.Match[str]) -> str:
    """The first line of a block of code with its language alone; `suggestions` are a block of our own."""
    return info[1] + ("text" if info[2].lower() == "suggestions" else info[2])


def _size(block: str) -> int:
    return WORDS_A_LINE * block.count("\n") if is_code(block) else len(block.split())


def _essence(block: str, terms: Terms, hit: Hit) -> str:
    """A block; of a long table or list of points what answers best, in its order."""
    lines = block.split("\n")
    if len(lines) > LONG and lines[1].lstrip().startswith(("|", ":", "-")) and "|" in lines[0]:
        return "\n".join([*lines[:2], *_best(lines[2:], terms, hit)])
    points = [point for point in _POINT.split(block) if point]
    if len(points) > LONG and block[:2] in ("- ", "* ", "+ "):
        return "\n".join(f"- {point.rstrip()}" for point in _best(points, terms, hit))
    return block


def _best(pieces: Sequence[str], terms: Terms, hit: Hit) -> list[str]:
    likeness = [_likeness(terms, piece, hit) for piece in pieces]
    chosen = sorted(range(len(pieces)), key=lambda i: -likeness[i])[:SHOWN]
    return [pieces[i] for i in sorted(chosen)]


def _telling_sentence(wanted: str, hit: Hit, shown: Sequence[str]) -> str:
    """The sentence of what is shown that is most like what is wanted, as a reader sees it; code and scraps less so."""
    sentences = [
        (one.strip(), is_code(block) or len(one.split()) < SENTENCE)
        for block in shown
        for one in _SENTENCE.split(plain(block))
        if one.strip()
    ]
    terms = _terms(wanted, hit, [sentence for sentence, _ in sentences])
    likeliest = max(
        sentences, key=lambda one: _likeness(terms, one[0], hit) * (0.5 if one[1] else 1), default=("", True)
    )
    return likeliest[0]


def _terms(wanted: str, hit: Hit, pieces: Sequence[str]) -> Terms:
    """The terms of what is wanted, each with what it tells: more where fewer of the pieces hold it."""
    language = hit.language or "en"
    terms = frozenset(analysis.terms(" ".join(analysis.content_words(wanted)), language))
    holding = Counter(term for piece in pieces for term in terms.intersection(analysis.terms(piece, language)))
    return {term: math.log1p(len(pieces) / count) for term, count in holding.items()}


def _likeness(terms: Terms, text: str, hit: Hit) -> float:
    """What the terms tell that a text holds, and, where it is the same, how little else it does."""
    found = analysis.terms(text, hit.language or "en")
    return sum(terms[term] for term in sorted(terms.keys() & set(found))) + 0.01 / (2 + len(found))


def _plain(text: str) -> str:
    """A title or heading as Markdown that shows it and does nothing else."""
    return _SIGN.sub(r"\\\g<0>", " ".join(text.split()))
