"""What this service answers: its search, its tools for agents, and the assistant without a model."""

from collections.abc import Sequence

from assistant.golden_questions import checks
from assistant.golden_questions.scoring import normalize, score
from assistant.models import AssistantSettings, GoldenQuestion
from assistant.question import Question
from docsite.core.access.readers import read_as
from docsite.core.tenants.models import Project
from docsite.extras.replay.answers import RESULTS
from docsite.extras.replay.surfaces.finding import MAX_TOOL_RESULT, Finding, State
from search.hits import Hit
from search.retrieval import page_search, pages

SEARCH, TOOLS, ANSWER = "search", "MCP", "answer"
# Those of the MCP server, another extra. A test compares them with what it returns.
TOOL_RESULTS = 5
TOOL_SECTION = 2_000  # characters


def find(project: Project, question: GoldenQuestion) -> list[Finding]:
    """What the surfaces of the service have of the fact of a question, for the readers of its pages."""
    fact = normalize(question.fact)
    with read_as(checks.find_groups(project, question.paths)):
        hits = page_search.find(project, question.text, limit=RESULTS)
        return [_find_in_search(hits, fact), _find_in_tools(project, hits, fact), _find_in_answer(project, question)]


def _find_in_search(hits: Sequence[Hit], fact: str) -> Finding:
    if any(fact in normalize(hit.body) for hit in hits):
        return Finding(SEARCH, State.TELLS)
    return Finding(SEARCH, State.LOST, f"not in the first {RESULTS} results" if hits else "finds nothing")


def _find_in_tools(project: Project, hits: Sequence[Hit], fact: str) -> Finding:
    """An agent searches, and reads the pages that it found."""
    found = hits[:TOOL_RESULTS]
    if any(fact in normalize(hit.body[:TOOL_SECTION]) for hit in found):
        return Finding(TOOLS, State.TELLS)
    for path in dict.fromkeys(hit.path for hit in found):
        page = pages.read_page(project, path)
        text = normalize("\n\n".join(section.body for section in page.sections)) if page else ""
        if 0 <= text.find(fact) <= MAX_TOOL_RESULT - len(fact):
            return Finding(TOOLS, State.LATE, f"only where it reads {path} whole")
    return Finding(TOOLS, State.LOST, f"not in the first {TOOL_RESULTS} results nor on their pages")


def _find_in_answer(project: Project, question: GoldenQuestion) -> Finding:
    settings = AssistantSettings.for_project(project).to_answer_settings()
    outcome = checks.answer(project, Question(question.text, settings=settings))
    row = score(question, project, outcome, 0.0)
    if row.fact:
        return Finding(ANSWER, State.TELLS)
    return Finding(ANSWER, State.LOST, "refused" if row.refused else "quotes other words")
