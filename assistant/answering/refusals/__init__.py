"""Writes the text of a refusal: that the documentation has no answer, then what the reader can do instead.

`detector` finds out whether a model refuses, by the sentences of `assistant.citations.refusal_phrases`.
A refusal reads:

    I couldn't find this in the documentation.

    The owner's text for refusals.

    The nearest pages:

    - [Install](https://docs.example/install)

    You can also [ask for help](https://support.example/?threadId=thr_1).
"""

from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlunsplit

from assistant.answering.question import Question
from assistant.answering.translations import choose_phrases, escape_markdown
from assistant.wire.events import Text
from docsite.core.unicode.addresses import urlsplit
from search.hits import Hit

MAX_NEAREST_PAGES = 3
MIN_NEAR_SCORE = 0.12  # pages with a smaller score share little more than a word with the question


def refuse(hits: Sequence[Hit], question: Question, thread_id: str) -> Iterator[Text]:
    """Say that the documentation has no answer, and suggest alternatives. Cites nothing."""
    yield Text(choose_phrases(hits, question.text).no_answer)
    yield from suggest_alternatives(hits, question, thread_id)


def suggest_alternatives(hits: Sequence[Hit], question: Question, thread_id: str) -> Iterator[Text]:
    """Give the owner's text for refusals, the nearest pages, and the support link."""
    phrases, settings = choose_phrases(hits, question.text), question.settings
    if settings.refusal_text:
        yield Text(f"\n\n{settings.refusal_text}")
    pages = list({hit.path: hit for hit in hits if hit.score >= MIN_NEAR_SCORE}.values())[:MAX_NEAREST_PAGES]
    if pages:
        links = "\n".join(f"- [{escape_markdown(hit.title)}]({hit.url.partition('#')[0]})" for hit in pages)
        yield Text(f"\n\n{phrases.nearest_pages}\n\n{links}")
    if settings.support_url:
        link = build_support_link(settings.support_url, thread_id)
        yield Text(f"\n\n{phrases.support.format(link=link)}")


def build_support_link(support: str, thread_id: str) -> str:
    """Build the address of the support link: a web address gets `threadId`, a mail address gets `mailto:`."""
    parts = urlsplit(support)
    if parts.scheme not in ("http", "https"):
        return support if parts.scheme == "mailto" else f"mailto:{quote(support, safe='@+')}"
    query = f"{parts.query}&" if parts.query else ""
    return urlunsplit(parts._replace(query=f"{query}threadId={thread_id}")).replace("(", "%28").replace(")", "%29")
