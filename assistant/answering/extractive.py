"""Answers without a model: quotes whole blocks of the passages, with citations.

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

from assistant.answering.phrases import choose_phrases, escape_markdown
from assistant.citations.citation_links import CitationChecker
from assistant.events import Source, Text
from search.hits import Hit
from search.text import analysis
from search.text.markdown.plain_text import plain
from search.text.markdown.reader import blocks, is_code

MAX_PAGES = 5
MAX_QUOTES = 3
MIN_QUOTE_SCORE = 0.6  # of the score of the best passage; others are not quoted
QUOTE_WORDS = (160, 70, 70)  # about how many words of each passage are quoted; code is never cut
CODE_LINE_WORDS = 4  # a line of code counts as this many words
MAX_BLOCKS = 12
MIN_SENTENCE_WORDS = 3
MAX_ROWS = 14  # a longer table or list is shortened to its best rows
BEST_ROWS = 6

TermWeights = Mapping[str, float]

_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+")
_BLOCK_TITLE = re.compile(r"\*\*[^*\n]+\*\*")  # of a tab, accordion or admonition, before its blocks
_FENCE_INFO = re.compile(r"\A(\s*(?:```+|~~~+))[ \t]*([\w+#.-]*)[^\n`]*")
_LIST_POINT = re.compile(r"(?m)^[-*+] ")


def answer(query: str, citations: CitationChecker) -> Iterator[Source | Text]:
    """Quote the best passages, each with its citation, then list further pages."""
    passages = citations.passages
    good: dict[str, int] = {}  # the best passage of each section, by its address
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


def select_blocks(query: str, hit: Hit, max_words: int) -> list[str]:
    """Select the blocks of a section to quote: the best block, with the blocks that belong to it."""
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
    """Find the block to begin with: the introduction of the best block, or the first block if all fit."""
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
    """Shorten a long table or list to its best rows or points, in their order."""
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
    """Weigh the terms of the query that occur in the pieces: log(1 + pieces / pieces with the term)."""
    language = hit.language or "en"
    terms = frozenset(analysis.terms(" ".join(analysis.content_words(query)), language))
    counts = Counter(term for piece in pieces for term in terms.intersection(analysis.terms(piece, language)))
    return {term: math.log1p(len(pieces) / count) for term, count in counts.items()}


def _score(weights: TermWeights, text: str, hit: Hit) -> float:
    """Add up the weights of the terms of a text. A shorter text with the same terms scores higher."""
    terms = analysis.terms(text, hit.language or "en")
    return sum(weights[term] for term in sorted(weights.keys() & set(terms))) + 0.01 / (2 + len(terms))


def _format_breadcrumb(hit: Hit) -> str:
    return escape_markdown(" › ".join(dict.fromkeys(hit.breadcrumb)))
