"""Answers without a model: quotes whole blocks of the passages, with citations, or refuses.

**Install › With pip** [1](https://docs.example/install#with-pip:~:text=…)

To install acme, run this:

```sh
pip install acme
```

See also:

- Upgrade [2](https://docs.example/upgrade)
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote, urlsplit, urlunsplit

from assistant.answering.phrases import choose_phrases
from assistant.citations.checker import CitationChecker
from assistant.events import Source, Text
from assistant.question import Voice
from search.hits import Hit
from search.text import analysis
from search.text.markdown.plain_text import plain
from search.text.markdown.reader import blocks, is_code

MAX_PAGES = 5
MAX_NEAREST_PAGES = 3
MAX_QUOTES = 3
MIN_QUOTE_SCORE = 0.6  # of the best passage's score, for a further passage to be quoted
QUOTE_WORDS = (160, 70, 70)  # about how many words of each passage are quoted; code is never cut
CODE_LINE_WORDS = 4  # a line of code counts as so many words
MAX_BLOCKS = 12
MIN_SENTENCE_WORDS = 3
MAX_ROWS = 14  # a longer table or list is shortened to its best rows
BEST_ROWS = 6

TermWeights = Mapping[str, float]

_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+")
_BLOCK_TITLE = re.compile(r"\*\*[^*\n]+\*\*")  # of a tab, accordion or admonition: the next blocks belong to it
_FENCE_INFO = re.compile(r"\A(\s*(?:```+|~~~+))[ \t]*([\w+#.-]*)[^\n`]*")
_MARKDOWN_SIGN = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=[#\w])|(?<=\w):(?=//)|^[#>+-](?=\s)")
_LIST_POINT = re.compile(r"(?m)^[-*+] ")


def answer(query: str, citations: CitationChecker) -> Iterator[Source | Text]:
    """Quote the best passages, each with its citation, then list further pages."""
    passages = citations.passages
    good: dict[str, int] = {}  # one for each section: a long one may be several passages
    for index, hit in enumerate(passages):
        if hit.score >= MIN_QUOTE_SCORE * passages[0].score and hit.body:
            good.setdefault(hit.url, index)
    quoted = list(good.values())[:MAX_QUOTES] or [0]
    for position, index in enumerate(quoted):
        hit = passages[index]
        quote_blocks = select_blocks(query, hit, QUOTE_WORDS[position])
        link, new_sources = citations.cite(index, _find_best_sentence(query, hit, quote_blocks))
        yield from new_sources
        gap = "\n\n" if position else ""
        yield Text(f"{gap}**{_format_breadcrumb(hit)}** {link}\n\n")
        for number, block in enumerate(quote_blocks):
            yield Text(("\n\n" if number else "") + block)
    yield from _list_further_pages(query, citations, quoted)


def _list_further_pages(query: str, citations: CitationChecker, quoted: Sequence[int]) -> Iterator[Source | Text]:
    """List the pages that were found but not quoted, each with its best passage."""
    passages = citations.passages
    pages = {passages[index].path for index in quoted}
    others = {hit.path: index for index, hit in reversed(list(enumerate(passages))) if hit.path not in pages}
    further = sorted(others.values())[: MAX_PAGES - len(pages)]
    for position, index in enumerate(further):
        hit = passages[index]
        link, new_sources = citations.cite(index, _find_best_sentence(query, hit, [hit.body]))
        yield from new_sources
        heading = "" if position else f"\n\n{choose_phrases(passages).see_also}\n"
        yield Text(f"{heading}\n- {_format_breadcrumb(hit)} {link}")


def refuse(hits: Sequence[Hit], voice: Voice, thread_id: str) -> Iterator[Text]:
    """Say that the documentation has no answer, and suggest alternatives. Cites nothing."""
    yield Text(choose_phrases(hits).no_answer)
    yield from suggest_alternatives(hits, voice, thread_id)


def suggest_alternatives(hits: Sequence[Hit], voice: Voice, thread_id: str) -> Iterator[Text]:
    """Give the owner's text for refusals, the nearest pages, and the support link."""
    phrases = choose_phrases(hits)
    if voice.deflection:
        yield Text(f"\n\n{voice.deflection}")
    pages = list({hit.path: hit for hit in hits}.values())[:MAX_NEAREST_PAGES]
    if pages:
        links = "\n".join(f"- [{_escape_markdown(hit.title)}]({hit.url.partition('#')[0]})" for hit in pages)
        yield Text(f"\n\n{phrases.nearest_pages}\n\n{links}")
    if voice.support_url:
        link = build_support_link(voice.support_url, thread_id)
        yield Text(f"\n\n{phrases.support.format(link=link)}")


def build_support_link(support: str, thread_id: str) -> str:
    """Build the address of the support link: a web address gets `threadId`, a mail address gets `mailto:`."""
    parts = urlsplit(support)
    if parts.scheme not in ("http", "https"):
        return support if parts.scheme == "mailto" else f"mailto:{quote(support, safe='@+')}"
    query = f"{parts.query}&" if parts.query else ""
    return urlunsplit(parts._replace(query=f"{query}threadId={thread_id}")).replace("(", "%28").replace(")", "%29")


def select_blocks(query: str, hit: Hit, max_words: int) -> list[str]:
    """Select the blocks of a section to quote: from the one that answers best, with the blocks that belong to it."""
    section = blocks(hit.body.split("\n"))
    if not section:
        return [hit.excerpt]
    weights = _weigh_terms(query, hit, section)
    scores = [_score(weights, block, hit) for block in section]
    best = max(range(len(section)), key=lambda i: (scores[i], -i))
    section = [_FENCE_INFO.sub(_clean_fence_info, _shorten(block, weights, hit), count=1) for block in section]
    chosen: list[str] = []
    left = max_words
    start = _find_start(section, best, max_words)
    for number, block in enumerate(section[start:], start):
        belongs_to_last = chosen and (is_code(block) or chosen[-1].rstrip().endswith(":"))
        is_over = (
            left <= 0
            or _count_words(block) > left + max_words // 2
            or _BLOCK_TITLE.fullmatch(block.strip())
            or len(chosen) >= MAX_BLOCKS
        )
        if number > best and is_over and not belongs_to_last:
            break
        chosen.append(block)
        left -= _count_words(block)
    return chosen


def _find_start(section: Sequence[str], best: int, max_words: int) -> int:
    """Find the block to begin with: the one that leads to the best one, or the first one if all of them fit."""
    first = max((i for i in range(best + 1) if _BLOCK_TITLE.fullmatch(section[i].strip())), default=0)
    start = best
    while start > first and (is_code(section[start]) or section[start - 1].rstrip().endswith(":")):
        start -= 1
    fits = sum(_count_words(block) for block in section[first : start + 1]) <= max_words
    return first if fits else start


def _clean_fence_info(info: re.Match[str]) -> str:
    """Keep only the language of a fence. Only the service may write a block of `suggestions`."""
    return info[1] + ("text" if info[2].lower() == "suggestions" else info[2])


def _count_words(block: str) -> int:
    return CODE_LINE_WORDS * block.count("\n") if is_code(block) else len(block.split())


def _shorten(block: str, weights: TermWeights, hit: Hit) -> str:
    """Shorten a long table or list to the rows or points that answer best, in their order."""
    lines = block.split("\n")
    if len(lines) > MAX_ROWS and lines[1].lstrip().startswith(("|", ":", "-")) and "|" in lines[0]:
        return "\n".join([*lines[:2], *_select_best(lines[2:], weights, hit)])
    points = [point for point in _LIST_POINT.split(block) if point]
    if len(points) > MAX_ROWS and block[:2] in ("- ", "* ", "+ "):
        return "\n".join(f"- {point.rstrip()}" for point in _select_best(points, weights, hit))
    return block


def _select_best(pieces: Sequence[str], weights: TermWeights, hit: Hit) -> list[str]:
    scores = [_score(weights, piece, hit) for piece in pieces]
    chosen = sorted(range(len(pieces)), key=lambda i: -scores[i])[:BEST_ROWS]
    return [pieces[i] for i in sorted(chosen)]


def _find_best_sentence(query: str, hit: Hit, quote_blocks: Sequence[str]) -> str:
    """Find the sentence of a quote that is most like the query, as plain text. Code and fragments count half."""
    sentences = [
        (sentence.strip(), 0.5 if is_code(block) or len(sentence.split()) < MIN_SENTENCE_WORDS else 1.0)
        for block in quote_blocks
        for sentence in _SENTENCE_END.split(plain(block))
        if sentence.strip()
    ]
    weights = _weigh_terms(query, hit, [sentence for sentence, _ in sentences])
    best, _ = max(sentences, key=lambda item: _score(weights, item[0], hit) * item[1], default=("", 0.5))
    return best


def _weigh_terms(query: str, hit: Hit, pieces: Sequence[str]) -> TermWeights:
    """Weigh the terms of the query that the pieces have: log(1 + pieces / pieces with the term)."""
    language = hit.language or "en"
    terms = frozenset(analysis.terms(" ".join(analysis.content_words(query)), language))
    counts = Counter(term for piece in pieces for term in terms.intersection(analysis.terms(piece, language)))
    return {term: math.log1p(len(pieces) / count) for term, count in counts.items()}


def _score(weights: TermWeights, text: str, hit: Hit) -> float:
    """Add up the weights of the terms that a text has. Of equal texts the shorter one scores higher."""
    terms = analysis.terms(text, hit.language or "en")
    return sum(weights[term] for term in sorted(weights.keys() & set(terms))) + 0.01 / (2 + len(terms))


def _format_breadcrumb(hit: Hit) -> str:
    return _escape_markdown(" › ".join(dict.fromkeys(hit.breadcrumb)))


def _escape_markdown(text: str) -> str:
    """Escape a title or heading, so that Markdown shows its characters and nothing else."""
    return _MARKDOWN_SIGN.sub(r"\\\g<0>", " ".join(text.split()))
