"""The answers of one index to some questions: without a model, and as a reader of public pages gets them."""

from dataclasses import asdict, dataclass
from typing import Any

from assistant.answering import passage_search, small_talk
from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.question import Question
from assistant.improving.question_groups.pins import find_pin
from assistant.models import AssistantSettings
from docsite.core.tenants.models import Project
from docsite.extras.replay.asked import Asked
from search.hits import Filters, Hit
from search.models import Document
from search.retrieval import page_search

ANSWERED, CLOSEST, REFUSED = "answered", "closest", "refused"
RESULTS = 10  # of a search, that a reader looks at
MAX_PASSAGE = 300  # characters


@dataclass(frozen=True)
class Answer:
    """What a reader gets. `page` is the cited one, `passage` its text, `place` (from 1) that of the opened page.

    A search whose readers opened a page is answered if that page is among the first `RESULTS`.
    """

    state: str
    page: str = ""
    passage: str = ""
    place: int | None = None

    def to_json(self, *, with_passage: bool) -> dict[str, Any]:
        """The answer as a JSON object."""
        return {**asdict(self), "page": self.page or None, "passage": self.passage if with_passage else ""}


class Asker:
    """Asks the index that this context searches. Make a new one within a preview."""

    def __init__(self, project: Project, titles_before: dict[str, str] | None = None) -> None:
        """`titles_before` are those of the old index: a page that moved is known by its title."""
        self.titles = dict(Document.objects.filter(project=project).values_list("path", "title"))
        self._titles_before = self.titles if titles_before is None else titles_before
        self._project = project
        self._settings = to_answer_settings(AssistantSettings.for_project(project))

    def ask(self, asked: Asked) -> Answer:
        """Answer a question as `assistant.answering` does, but choose no quotes: that would take half the time."""
        hit, place = self._find_opened(asked)
        if asked.is_search and asked.opened in self._titles_before:
            return _describe(ANSWERED, hit, place) if hit else Answer(REFUSED)
        pinned = find_pin(self._project, asked.text, Filters())
        if pinned:
            return _describe(ANSWERED, pinned.passage, place)
        found = passage_search.find(self._project, Question(asked.text), uses_meaning=False)
        rung, passages = found.quotable(self._settings)
        if not passages or small_talk.is_no_question(asked.text):
            return Answer(REFUSED, place=place)
        cited = next((hit for hit in passages if hit.body), passages[0])
        return _describe(ANSWERED if rung == "extractive" else CLOSEST, cited, place)

    def _find_opened(self, asked: Asked) -> tuple[Hit | None, int | None]:
        """The opened page among the results of a search, and its place."""
        title = self._titles_before.get(asked.opened)
        if title is None:
            return None, None
        is_there = asked.opened in self.titles
        for place, hit in enumerate(page_search.find(self._project, asked.text, limit=RESULTS), 1):
            if hit.path == asked.opened or (not is_there and hit.title == title):
                return hit, place
        return None, None


def _describe(state: str, hit: Hit, place: int | None) -> Answer:
    text = " ".join((hit.text or hit.excerpt).split())
    return Answer(state, hit.path, text if len(text) <= MAX_PASSAGE else f"{text[: MAX_PASSAGE - 1]}…", place)
