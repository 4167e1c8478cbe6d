"""Chooses what to quote of a passage: its beginning, or blocks that answer much better, up to a number of words."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from search.hits import Hit
from search.retrieval.excerpts import excerpt_of
from search.text import analysis
from search.text.markdown.plain_text import plain
from search.text.markdown.reader import blocks, fence, is_code, parse

MIN_GAIN = 3.0  # how much better other blocks must match than the beginning, which says what the section is about
SHORT_CODE = 3  # lines; such a block is quoted beside a longer one
MIN_SENTENCE_WORDS = 3
MAX_BLOCKS = 100  # of a passage that are considered; each is compared with those behind it
MAX_ROWS = 8  # a longer table or list is shortened to its best rows
BEST_ROWS = 5
TABLE_WORDS = 3  # a table or list with more words than this times the limit is shortened, too
MAX_SENTENCE = 300  # characters of one that may stand alone

_DENIALS = frozenset(
    [
        "not",
        "no",
        "don't",
        "doesn't",
        "can't",
        "won't",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "pas",
        "non",
        "não",
        "niet",
        "geen",
    ]
)

TermWeights = Mapping[str, float]

_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[\"'(`*\[]*[A-ZÀ-ÞА-Я])|(?<=[。！？])")
_BLOCK_TITLE = re.compile(r"\*\*[^*\n]+\*\*")  # of a tab, accordion or admonition, before its blocks
_FENCE_INFO = re.compile(r"\A(\s*(?:```+|~~~+))[ \t]*([\w+#.-]*)[^\n`]*")
_LINES_MATTER = re.compile(r"(?m)^[ \t]*(?:[-*+>|]|\d{1,9}[.)])\s")  # a list, table or quotation
_LIST_POINT = re.compile(r"(?m)^[-*+] ")


@dataclass(frozen=True)
class Quote:
    """Blocks of Markdown from one passage, the sentence in them that answers best, and whether the passage has more.

    `is_part_of_code`: the passage has nothing but long code, of which some lines are quoted.
    """

    blocks: Sequence[str]
    sentence: str
    is_cut: bool
    is_part_of_code: bool = False


def choose_quote(query: str, hit: Hit, max_words: int, max_code_lines: int) -> Quote:
    """Choose what to quote of a passage: about `max_words` words, and its first block of code that is short enough."""
    section = [block for block in blocks(hit.body.split("\n")) if block.strip()][:MAX_BLOCKS]
    section = _drop_empty_titles(section)
    if not section:
        excerpt = excerpt_of(hit)  # plain text
        return Quote([excerpt], excerpt, is_cut=False)
    terms = _terms_of(section, hit)
    weights = _weigh_terms(query, hit, terms)
    start = _find_start(section, terms, weights, max_words)
    chosen: list[str] = []
    left, has_code, is_cut = max_words, False, start > 0
    for block in section[start:]:
        lines = block.count("\n") - 1
        if is_code(block):
            if lines > SHORT_CODE and (has_code or lines > max_code_lines):
                is_cut = True
                if chosen and _is_title(chosen[-1]):  # a tab with nothing but this code
                    chosen.pop()
                elif chosen and chosen[-1].rstrip().endswith(":"):
                    chosen[-1] = chosen[-1].rstrip()[:-1] + " …"  # it leads to the code
            else:
                has_code = has_code or lines > SHORT_CODE
                chosen.append(_FENCE_INFO.sub(_clean_fence_info, block, count=1))
            continue
        if left <= 0 or (has_code and _is_title(block)):  # the next tab with code, or a new topic
            is_cut = True
            break
        shortened = _cut_to_sentences(_shorten(block, left, weights, hit), left, weights, hit)
        is_cut = is_cut or shortened != block
        chosen.append(shortened)
        left -= len(shortened.split())
    if chosen and not any(map(is_code, chosen)) and (code := _find_short_code(section, max_code_lines)):
        chosen.append(_FENCE_INFO.sub(_clean_fence_info, code, count=1))
    if not chosen:
        return _quote_lines(query, hit, section, max_code_lines)
    while len(chosen) > 1 and (chosen[-1].rstrip().endswith(":") or _is_title(chosen[-1])):
        chosen.pop()  # it leads to what is not quoted
    if is_cut and chosen[-1].rstrip().endswith(":"):
        chosen[-1] = chosen[-1].rstrip()[:-1] + " …"
    return Quote(chosen, _find_best_sentence(query, hit, chosen), is_cut)


def find_complete_sentence(query: str, hit: Hit, quote: Quote) -> str:
    """The first sentence of a quote's running text that holds all content words of a query, of at least two.

    It is plain text; empty if there is none. A long sentence, or one that leads to something else, is left out. A query
    that denies something gets none: words do not tell which sentence denies it, too.
    """
    if not _DENIALS.isdisjoint(query.lower().split()):
        return ""
    function_words = analysis.FUNCTION_WORDS.get((hit.language or "en")[:2].lower(), ())
    content = [word for word in analysis.content_words(query) if word.lower() not in function_words]
    wanted = set(_terms_of([" ".join(content)], hit)[0])
    texts = [plain(block) for block in quote.blocks if is_paragraph(block)]
    sentences = [piece.strip() for text in texts for line in text.split("\n") for piece in _SENTENCE.split(line)]
    whole = [one for one in sentences if len(one) <= MAX_SENTENCE and one.endswith((".", "!", "。", "！"))]
    held = zip(whole, _terms_of(whole, hit), strict=True)
    return next((sentence for sentence, terms in held if len(content) > 1 and wanted <= set(terms)), "")


def _find_short_code(section: Sequence[str], max_lines: int) -> str:
    """The first code block of at most `max_lines` lines. Returns an empty text if every block is longer."""
    return next((block for block in section if is_code(block) and block.count("\n") - 1 <= max_lines), "")


def _quote_lines(query: str, hit: Hit, section: Sequence[str], max_lines: int) -> Quote:
    """Neighbouring lines of a passage that is all long code: those with the rarest words of the query."""
    code = max((parse(block)[0] for block in section if is_code(block)), key=lambda token: len(token.content))
    lines = code.content.rstrip("\n").split("\n")
    weights = _weigh_terms(query, hit, terms := _terms_of(lines, hit))
    last = max(0, len(lines) - max_lines)
    found = [weights.keys() & set(chain.from_iterable(terms[at : at + max_lines])) for at in range(last + 1)]
    start = max(range(last + 1), key=lambda at: (sum(weights[term] for term in sorted(found[at])), -at))
    language = _clean_language(code.info.partition(" ")[0])
    block = fence("\n".join(lines[start : start + max_lines]), language)
    return Quote([block], _find_best_sentence(query, hit, [block]), is_cut=True, is_part_of_code=True)


def is_paragraph(block: str) -> bool:
    """Whether a block is running text, whose lines may be joined: no code, list, table or quotation."""
    return not is_code(block) and not _LINES_MATTER.search(block)


def _is_title(block: str) -> bool:
    return bool(_BLOCK_TITLE.fullmatch(block.strip()))


def _drop_empty_titles(section: Sequence[str]) -> list[str]:
    """The blocks without the titles of tabs that have no text, such as those whose code is in another file."""
    followed = zip_longest(section, section[1:], fillvalue="")
    return [block for block, after in followed if not (_is_title(block) and _is_title(after))]


def _find_start(section: Sequence[str], terms: Sequence[Collection[str]], weights: TermWeights, max_words: int) -> int:
    """Find the block to begin with: the first one, or the introduction of others that match much better.

    `terms`: the terms of each block, in the order of `section`.
    """
    held = [weights.keys() & terms_of_block for terms_of_block in terms]
    words = [0 if is_code(block) else len(block.split()) for block in section]
    matches = [_score_window(words[start:], held[start:], weights, max_words) for start in range(len(section))]
    best = max(range(len(section)), key=lambda start: (matches[start], -start))
    if matches[best] < MIN_GAIN * matches[0] or not matches[best]:
        return 0
    while best > 0 and (is_code(section[best]) or section[best - 1].rstrip().endswith(":")):
        best -= 1
    return best


def _score_window(words: Sequence[int], held: Sequence[Collection[str]], weights: TermWeights, max_words: int) -> float:
    """Add up the weights of the terms that the first blocks hold, as many blocks as fit by their numbers of words."""
    terms: set[str] = set()
    for words_of_block, terms_of_block in zip(words, held, strict=True):
        if max_words <= 0:
            break
        terms.update(terms_of_block)
        max_words -= words_of_block
    return sum(weights[term] for term in sorted(terms))


def _cut_to_sentences(block: str, max_words: int, weights: TermWeights, hit: Hit) -> str:
    """The first sentences of a paragraph that is too long, or from its best one on if that comes later."""
    if len(block.split()) <= max_words * 1.2 or not is_paragraph(block):
        return block
    sentences = _SENTENCE.split(block)
    terms = _terms_of(sentences, hit)
    best = max(range(len(sentences)), key=lambda i: (_score(weights, terms[i]), -i))
    for start in (0, best):
        chosen: list[str] = []
        for sentence in sentences[start:]:
            if chosen and sum(len(text.split()) for text in chosen) + len(sentence.split()) > max_words:
                break
            chosen.append(sentence)
        if start + len(chosen) > best:
            break
    return " ".join(chosen)


def _clean_fence_info(info: re.Match[str]) -> str:
    """Keep only the language of a fence."""
    return info[1] + _clean_language(info[2])


def _clean_language(language: str) -> str:
    """Only the service may write a block of `suggestions`."""
    return "text" if language.lower() == "suggestions" else language


def _shorten(block: str, max_words: int, weights: TermWeights, hit: Hit) -> str:
    """Shorten a long table or list to its best rows or points, in their order."""
    lines = block.split("\n")
    is_long = len(block.split()) > TABLE_WORDS * max_words
    if "|" in lines[0] and len(lines) > 2 and lines[1].lstrip().startswith(("|", ":", "-")):
        if len(lines) > MAX_ROWS or is_long:
            return "\n".join([*lines[:2], *_select_best(lines[2:], max_words, weights, hit)])
    elif block[:2] in ("- ", "* ", "+ "):
        points = [point for point in _LIST_POINT.split(block) if point]
        if len(points) > MAX_ROWS or is_long:
            return "\n".join(f"- {point.rstrip()}" for point in _select_best(points, max_words, weights, hit))
    return block


def _select_best(pieces: Sequence[str], max_words: int, weights: TermWeights, hit: Hit) -> list[str]:
    """The best pieces, up to a number of words and at least one, in their order."""
    scores = [_score(weights, terms) for terms in _terms_of(pieces, hit)]
    chosen: list[int] = []
    for i in sorted(range(len(pieces)), key=lambda i: -scores[i])[:BEST_ROWS]:
        max_words -= len(pieces[i].split())
        if chosen and max_words < 0:
            break
        chosen.append(i)
    return [pieces[i] for i in sorted(chosen)]


def _find_best_sentence(query: str, hit: Hit, quote_blocks: Sequence[str]) -> str:
    """Find the sentence of a quote that is most like the query, as plain text. Code and fragments count half."""
    sentences, factors = [], []
    for block in quote_blocks:
        factor = 0.5 if is_code(block) else 1.0
        for sentence in filter(None, map(str.strip, _SENTENCE_END.split(plain(block)))):
            sentences.append(sentence)
            factors.append(0.5 if len(sentence.split()) < MIN_SENTENCE_WORDS else factor)
    terms = _terms_of(sentences, hit)
    weights = _weigh_terms(query, hit, terms)
    scores = [
        _score(weights, terms_of_sentence) * factor for terms_of_sentence, factor in zip(terms, factors, strict=True)
    ]
    return sentences[scores.index(max(scores))] if scores else ""


def _terms_of(pieces: Iterable[str], hit: Hit) -> list[Sequence[str]]:
    """The terms of each piece of a passage. Finding them is the slow part: call it once for each piece."""
    return [analysis.terms(piece, hit.language or "en") for piece in pieces]


def _weigh_terms(query: str, hit: Hit, terms_of_pieces: Sequence[Sequence[str]]) -> TermWeights:
    """Weigh the terms of the query that occur in the pieces: log(1 + pieces / pieces with the term)."""
    wanted = frozenset(_terms_of([" ".join(analysis.content_words(query))], hit)[0])
    counts = Counter(term for terms in terms_of_pieces for term in wanted.intersection(terms))
    return {term: math.log1p(len(terms_of_pieces) / count) for term, count in counts.items()}


def _score(weights: TermWeights, terms: Sequence[str]) -> float:
    """Add up the weights of the terms of a text. A shorter text with the same terms scores higher."""
    return sum(weights[term] for term in sorted(weights.keys() & set(terms))) + 0.01 / (2 + len(terms))
