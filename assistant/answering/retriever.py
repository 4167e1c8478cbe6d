"""The interface by which the answer pipeline searches the documentation, and the type of a result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.answering.question import AnswerSettings, Question
from assistant.wire.events import Excerpt, Rung
from search.hits import Filters, Hit, PageText
from search.retrieval.answerability import MIN_CHANCE, MIN_CLOSE_CHANCE, MIN_PASSAGE_SCORE


@dataclass(frozen=True)
class Retrieved:
    """The result of a search.

    `hits` are the passages, best first. `chance` (0..1) is the probability that they answer the question; it says
    nothing if the question `is_foreign`, in another language than the pages. `scope` says what was searched:
    `version`, `indexedAt`, `pages`. `neighbours` are the sections around the passages, for a model.
    """

    hits: list[Hit]
    chance: float
    scope: dict[str, object]
    neighbours: Sequence[Hit] = ()
    is_foreign: bool = False

    def quotable(self, settings: AnswerSettings) -> tuple[Rung, list[Hit]]:
        """The passages to quote if no model answers, and the rung of that answer. Without passages it is a refusal.

        The chance decides, if it says anything.
        """
        threshold = MIN_CLOSE_CHANCE if settings.threshold is None else settings.threshold
        passages = [hit for hit in self.hits if hit.score >= MIN_PASSAGE_SCORE]
        if not passages or (self.chance < threshold and not self.is_foreign):
            return "nearest_pages", []
        return "extractive" if self.chance >= MIN_CHANCE else "closest_passages", passages


class Retriever(Protocol):
    """Searches the documentation of one project."""

    async def search(self, question: Question, passage_tokens: int) -> Retrieved:
        """The passages for a question. For a model, with neighbours up to so many tokens."""

    async def read_page(self, path: str, filters: Filters) -> PageText | None:
        """The page at a path or an address; None where there is none that passes the filters."""


def build_excerpts(hits: Sequence[Hit]) -> list[Excerpt]:
    """The best passage of each page."""
    pages = {hit.path: hit for hit in reversed(hits)}
    best = [hit for hit in hits if pages[hit.path] is hit]
    return [Excerpt(hit.path, hit.url, hit.title, hit.section, hit.excerpt, hit.score) for hit in best]
