"""One group in full: its wordings, an answer that did not help, the nearest pages, and what was done about it."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from assistant.answering.passage_search import find
from assistant.answering.question import Question
from assistant.conversations import transcript
from assistant.improving.gaps import report
from assistant.improving.gaps.report import Effect, Gap
from assistant.improving.question_groups.pins import find_passage
from assistant.models import GroupAction, GroupedQuestion, Message, PinnedAnswer, QuestionGroup, Thread
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.tables import Change
from search.hits import Hit
from search.models import PageWords
from search.query_log.folding import fold

MAX_ROWS, MAX_WORDINGS, MAX_PAGES = 500, 30, 5


@dataclass
class Wording:
    """A question or search, whatever its upper and lower case. `thread` is its latest conversation."""

    text: str
    is_search: bool
    count: int
    latest: datetime
    problem: str
    thread: Thread | None


@dataclass(frozen=True)
class GroupReport:
    """What the page of a group shows."""

    gap: Gap
    wordings: list[Wording]
    answer: Message | None
    pages: list[tuple[Hit, str]]  # the nearest ones, each with the words that the owner has added
    chance: float
    pin: PinnedAnswer | None
    pinned_page: Hit | None  # None: the page is no longer in the index, so the pin does not apply
    effect: Effect | None
    actions: list[GroupAction]

    @property
    def answer_html(self) -> SafeString:
        """The latest answer that did not help."""
        return transcript.render(self.answer.content if self.answer else "")


def load_group(project: Project, group: QuestionGroup, start: datetime, end: datetime) -> GroupReport:
    """Load what the page of a group shows, for the questions of a half-open range."""
    rows = GroupedQuestion.objects.filter(group=group, at__gte=start, at__lt=end)
    newest = list(rows.order_by("-at", "-pk").select_related("question__thread", "search", "answer")[:MAX_ROWS])
    problems = report.count_problems([group.pk], start, end)[group.pk]
    text = _text_of(newest[0]) if newest else group.question or group.terms.strip()
    count = Change(problems.total(), report.count_before([group.pk], start, end)[group.pk])
    retrieved = find(project, Question(text)) if text else None
    hits = list({hit.path: hit for hit in reversed(retrieved.hits)}.values())[::-1][:MAX_PAGES] if retrieved else []
    words = dict(
        PageWords.objects.filter(project=project, path__in=[hit.path for hit in hits]).values_list("path", "words")
    )
    pin = PinnedAnswer.objects.filter(group=group).first()
    bad = next((row for row in newest if row.problem and row.answer_id), None)
    gap = Gap(
        group,
        text,
        count,
        [(report.Problem(kind), number) for kind, number in problems.most_common()],
        newest[0].at if newest else start,
        report.explain(group, problems),
        None,
    )
    return GroupReport(
        gap,
        _collect_wordings(newest),
        bad.answer if bad else None,
        [(hit, words.get(hit.path, "")) for hit in hits],
        retrieved.chance if retrieved else 0.0,
        pin,
        find_passage(project, pin.path, pin.anchor) if pin else None,
        report.measure_effects([group]).get(group.pk, Effect()) if group.fixed_at else None,
        list(group.actions.all()),
    )


def _collect_wordings(rows: list[GroupedQuestion]) -> list[Wording]:
    """Distinct wordings, the newest first."""
    found: dict[str, Wording] = {}
    for row in rows:
        text = _text_of(row)
        key = fold(text)
        if key in found:
            found[key].count += 1
        elif len(found) < MAX_WORDINGS:
            problem = row.get_problem_display() if row.problem else ""
            thread = row.question.thread if row.question else None
            found[key] = Wording(text, row.search_id is not None, 1, row.at, problem, thread)
    return list(found.values())


def _text_of(row: GroupedQuestion) -> str:
    text = row.question.content if row.question else row.search.text if row.search else ""
    return " ".join(text.split())
