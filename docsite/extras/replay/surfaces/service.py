"""What this service answers: its search, its tools for agents, and the assistant without a model."""

from collections.abc import Callable, Sequence
from functools import cache

from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.question import Question
from assistant.improving.golden_questions import checks
from assistant.models import AssistantSettings, GoldenQuestion
from docsite.core.access.readers import read_as
from docsite.core.tenants.models import Project
from docsite.extras.replay.answers import RESULTS
from docsite.extras.replay.surfaces.finding import MAX_TOOL_RESULT, Fact, Finding, State
from search.hits import Hit
from search.retrieval import page_reading, page_search

SEARCH, TOOLS, ANSWER = "search", "MCP", "answer"
# Those of the MCP server, another extra. A test compares them with what it returns.
TOOL_RESULTS = 5
TOOL_SECTION = 2_000  # characters


def find(project: Project, question: GoldenQuestion) -> list[Finding]:
    """What the surfaces of the service have of the fact of a question, for the readers of its pages."""
    fact = Fact(question.fact)
    with read_as(checks.find_groups(project, question.paths)):
        hits = page_search.find(project, question.text, limit=RESULTS)
        find_on_page = cache(lambda path: fact.find_end(_read(project, path)))
        return [
            _find_in_search(hits, find_on_page, fact),
            _find_in_tools(hits[:TOOL_RESULTS], find_on_page, fact),
            _find_in_answer(project, question, fact),
        ]


def _read(project: Project, path: str) -> str:
    """A page as the tool `read_page` returns it, but for its headings."""
    page = page_reading.read_page(project, path)
    return "\n\n".join(section.body for section in page.sections) if page else ""


def _find_in_search(hits: Sequence[Hit], find_on_page: Callable[[str], int], fact: Fact) -> Finding:
    if any(fact.is_in(hit.body) for hit in hits):
        return Finding(SEARCH, State.TELLS)
    if path := next((hit.path for hit in hits if find_on_page(hit.path) >= 0), ""):
        return Finding(SEARCH, State.LATE, f"finds {path} by another section")
    return Finding(SEARCH, State.LOST, f"not in the first {RESULTS} results" if hits else "finds nothing")


def _find_in_tools(hits: Sequence[Hit], find_on_page: Callable[[str], int], fact: Fact) -> Finding:
    """An agent searches, and reads the pages that it found."""
    if any(fact.is_in(hit.body[:TOOL_SECTION]) for hit in hits):
        return Finding(TOOLS, State.TELLS)
    if path := next((hit.path for hit in hits if 0 <= find_on_page(hit.path) <= MAX_TOOL_RESULT), ""):
        return Finding(TOOLS, State.LATE, f"only where it reads {path} whole")
    return Finding(TOOLS, State.LOST, f"not in the first {TOOL_RESULTS} results nor on their pages")


def _find_in_answer(project: Project, question: GoldenQuestion, fact: Fact) -> Finding:
    settings = to_answer_settings(AssistantSettings.for_project(project))
    outcome = checks.answer(project, Question(question.text, settings=settings))
    if not outcome.sources:
        return Finding(ANSWER, State.LOST, "refused")
    if fact.is_in(outcome.text):
        return Finding(ANSWER, State.TELLS)
    return Finding(ANSWER, State.LOST, "quotes other words")
