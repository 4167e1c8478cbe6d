"""Audits golden questions that have a fact: which surface is the first that loses it?"""

from collections.abc import Sequence
from contextlib import closing

from assistant.models import GoldenQuestion
from docsite.core.tenants.models import Project
from docsite.extras.replay.surfaces import service
from docsite.extras.replay.surfaces.finding import Finding, State
from docsite.extras.replay.surfaces.site import Site


def run(project: Project, questions: Sequence[GoldenQuestion]) -> None:
    """Look for the facts of some questions, and store what was found with them. They have just been run."""
    asked = [question for question in questions if question.fact]
    if not asked:
        return
    with closing(Site(project)) as site:  # first of all, since its seconds run
        found = [site.find(question.fact, question.paths or question.cited) for question in asked]
    for question, findings in zip(asked, found, strict=True):
        question.surfaces = [finding.to_json() for finding in (*findings, *service.find(project, question))]
    GoldenQuestion.objects.bulk_update(asked, ["surfaces"])


def load(question: GoldenQuestion) -> list[Finding]:
    """What the last run found, in the order in which a fact gets from the page to an answer."""
    return [Finding(surface["surface"], State(surface["state"]), surface["detail"]) for surface in question.surfaces]


def summarize(findings: Sequence[Finding]) -> str:
    """The first surface that loses the fact, in a few words. Empty if nothing was looked at."""
    seen = [finding for finding in findings if finding.state != State.UNKNOWN]
    if not seen:
        return ""
    lost = [finding for finding in seen if finding.state == State.LOST]
    if len(lost) == len(seen):
        return "nowhere in these words"
    unknown = [finding.surface for finding in findings if finding.state == State.UNKNOWN]
    unseen = f" (not looked at: {', '.join(unknown)})" if unknown else ""
    first = next((finding for finding in [*lost, *seen] if finding.state != State.TELLS), None)
    if first is None:
        return f"none{unseen}"
    return f"{'' if lost else 'late in '}{first.surface}: {first.detail}{unseen}"
