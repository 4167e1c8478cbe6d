"""Answers without a model: the documentation's own words, quoted whole and cited."""

from collections.abc import Iterator, Sequence

from assistant.citations import Citations
from assistant.events import Source, Text
from search import analysis
from search.hits import Hit
from search.sections import blocks

MOST_PASSAGES = 3
NEAR_THE_BEST = 0.75  # a further passage must score this share of the first
WORDS = (160, 70, 70)  # about how much of each passage is quoted; code counts half, and is never cut
SEE_ALSO = 2


def answer(question: str, citations: Citations) -> Iterator[Source | Text]:
    """Quote the passages that answer the question, the best first, each with its citation."""
    passages = citations.passages
    chosen = [i for i, hit in enumerate(passages) if hit.score >= passages[0].score * NEAR_THE_BEST and hit.body]
    shown = chosen[:MOST_PASSAGES] or [0]
    for position, index in enumerate(shown):
        hit = passages[index]
        link, new = citations.cite(index)
        yield from new
        heading = " › ".join(dict.fromkeys(hit.breadcrumb))
        gap = "\n\n" if position else ""
        yield Text(f"{gap}**{_plain(heading)}** {link}\n\n")
        quoted = excerpt(question, hit, WORDS[position])
        for number, block in enumerate(quoted):
            yield Text(("\n\n" if number else "") + block)
    quoted_pages = {passages[index].path for index in shown}
    others = {hit.path: hit for hit in passages if hit.path not in quoted_pages}
    if others:
        yield Text("\n\nSee also: " + ", ".join(page_link(hit) for hit in list(others.values())[:SEE_ALSO]))


def nearest_pages(hits: Sequence[Hit], support_url: str = "") -> Iterator[Text]:
    """Say that the documentation has no answer, and where to look instead. Cites nothing."""
    yield Text("I couldn't find this in the documentation.")
    pages = list({hit.path: hit for hit in hits}.values())[:3]
    if pages:
        yield Text("\n\nThe nearest pages:\n\n" + "\n".join(f"- {page_link(hit)}" for hit in pages))
    if support_url:
        target = support_url if "://" in support_url or support_url.startswith("mailto:") else f"mailto:{support_url}"
        yield Text(f"\n\nYou can also [ask for help]({target}).")


def excerpt(question: str, hit: Hit, words: int) -> list[str]:
    """The blocks of a section that answer best: from the most telling one on, with what belongs to it."""
    parts = blocks(hit.body.split("\n"))
    if not parts:
        return [hit.excerpt]
    language = hit.language or "en"
    wanted = set(analysis.terms(" ".join(analysis.content_words(question)), language))
    telling = [len(wanted.intersection(analysis.terms(part, language))) for part in parts]
    start = max(range(len(parts)), key=lambda i: (telling[i], -i))
    while start and (is_code(parts[start]) or parts[start - 1].rstrip().endswith(":")):
        start -= 1  # code belongs to the words that lead to it
    if sum(len(part.split()) for part in parts[: start + 1]) <= words:
        start = 0  # the section's beginning fits too, and reads better
    chosen: list[str] = []
    left = words
    for part in parts[start:]:
        belongs = chosen and (is_code(part) or chosen[-1].rstrip().endswith(":"))
        if chosen and left <= 0 and not belongs:
            break
        if chosen and not belongs and len(part.split()) > left + words // 2:
            break
        chosen.append(part)
        left -= len(part.split()) // (2 if is_code(part) else 1)
        if len(chosen) >= 12:
            break
    return chosen


def is_code(block: str) -> bool:
    """Whether a block is fenced or indented code."""
    return block.lstrip().startswith(("```", "~~~")) or block.startswith("    ")


def page_link(hit: Hit) -> str:
    """A page's title as a link."""
    return f"[{_plain(hit.title)}]({hit.url.partition('#')[0]})"


def _plain(text: str) -> str:
    return text.replace("[", "(").replace("]", ")").replace("*", "")
