"""Answers without a model: quotes what answers best from the best passages, with citations.

**With pip**

To install acme, run this:

```sh
pip install acme
```

[Read on](https://docs.example/install#with-pip) [1](https://docs.example/install#with-pip:~:text=…)

**Upgrade**

A newer version replaces the one that is installed. [2](https://docs.example/upgrade#:~:text=…)

See also:

- [Remove acme](https://docs.example/remove)
"""

from collections.abc import Iterator, Sequence

from assistant.answering import small_talk
from assistant.answering.question import Question
from assistant.answering.quoting.quotes import Quote, choose_quote, find_complete_sentence, is_paragraph
from assistant.answering.retriever import Retrieved
from assistant.answering.translations import Phrases, escape_markdown, language_of, phrases_in
from assistant.citations.link_checker import CitationChecker
from assistant.wire.events import Rung, Source, Text
from search.hits import Hit
from search.text import glossary
from search.text.language import detect_language

QUOTE_WORDS = (90, 50, 30)  # about how many words of each passage are quoted, beside its code
CODE_LINES = (12, 8, 6)  # the longest block of code that is quoted of each, beside very short ones
MIN_THIRD = 0.1  # of the best passage's score, that the third one must have
MAX_FURTHER_PAGES = 3
MIN_PREVIEW_CHANCE = 0.65  # from which one sentence may be shown as the answer, before the reader has asked


def answer(
    question: Question, topic: str, citations: CitationChecker, quotable: Sequence[Hit], rung: Rung
) -> Iterator[Source | Text]:
    """Quote the best of these passages of `citations`, each with its citation.

    Then list further pages, unless the reader gets suggestions, which are such a list.

    `topic` is what the quotes should be about. The service's sentences are in the language of the question.
    """
    pages_language = language_of(quotable)
    language = detect_language(question.text) or pages_language or "en"
    phrases = phrases_in(language)
    if pages_language in ("", "en"):
        topic = glossary.translate(topic, detect_language(topic))
    if preface := _build_preface(phrases, language, pages_language, rung):
        yield Text(f"{preface}\n\n")
    sections = {hit.url: hit for hit in reversed(quotable) if hit.body}  # the best passage of each
    candidates = [hit for hit in quotable if sections.get(hit.url) is hit] or quotable[:1]
    quotes = _choose_quotes(topic, candidates)
    for position, (hit, quote) in enumerate(quotes):
        link, new_sources = citations.cite(citations.passages.index(hit), quote.sentence)
        yield from new_sources
        heading = f"**{escape_markdown(hit.section or hit.title)}**"  # a quoted setting or method may not name itself
        yield Text(f"\n\n{heading}\n\n" if position else f"{heading}\n\n")
        name = phrases.read_on if quote.is_cut else escape_markdown(hit.section)
        yield from _format_quote(quote, link, f"[{name}]({hit.url})")
    if question.suggestions:
        return
    pages = {hit.path for hit, _ in quotes}
    further = [hit for hit in {hit.path: hit for hit in reversed(quotable)}.values() if hit.path not in pages]
    links = [f"- [{escape_markdown(hit.title)}]({hit.url})" for hit in further[::-1][:MAX_FURTHER_PAGES]]
    if links:
        yield Text("\n\n" + "\n".join([phrases.see_also, "", *links]))


def find_sure_sentence(question: Question, retrieved: Retrieved) -> tuple[Hit, str] | None:
    """The best passage, and the sentence in it that answers by itself, as plain text. None if none surely does."""
    rung, passages = retrieved.quotable(question.settings)
    if rung != "extractive" or retrieved.chance < MIN_PREVIEW_CHANCE or small_talk.is_no_question(question.text):
        return None
    hit = passages[0]
    quote = choose_quote(question.text, hit, QUOTE_WORDS[0], CODE_LINES[0])
    is_readable = detect_language(question.text) in ("", language_of([hit]) or "en")
    sentence = find_complete_sentence(question.text, hit, quote) if is_readable else ""
    return (hit, sentence) if sentence else None


def _choose_quotes(topic: str, passages: Sequence[Hit]) -> list[tuple[Hit, Quote]]:
    """The quotes, best first. Lines out of long code are quoted only where nothing stands before them."""
    quotes: list[tuple[Hit, Quote]] = []
    for hit in passages:
        number = len(quotes)
        if number == len(QUOTE_WORDS) or (number == 2 and hit.score < MIN_THIRD * passages[0].score):
            break
        quote = choose_quote(topic, hit, QUOTE_WORDS[number], CODE_LINES[number])
        if not (quotes and quote.is_part_of_code):
            quotes.append((hit, quote))
    return quotes


def _build_preface(phrases: Phrases, language: str, pages_language: str, rung: Rung) -> str:
    """Say before quotes why they may disappoint: another language, or a small chance to answer. Empty otherwise."""
    sentences = []
    if language != pages_language and pages_language in phrases.languages:
        sentences.append(phrases.other_language.format(language=phrases.languages[pages_language]))
    if rung == "closest_passages":
        sentences.append(phrases.closest)
    return ("" if language == "ja" else " ").join(sentences)


def _format_quote(quote: Quote, link: str, section: str) -> Iterator[Text]:
    """The blocks of a quote, with its citation: after the last words, or below code, a list or a table.

    There it follows a link to the section, so that no citation stands alone.
    """
    for number, block in enumerate(quote.blocks):
        yield Text(("\n\n" if number else "") + block)
    if not is_paragraph(quote.blocks[-1].strip()):
        yield Text(f"\n\n{section} {link}")
        return
    yield Text(f" {link}")
    if quote.is_cut:
        yield Text(f" · {section}")
