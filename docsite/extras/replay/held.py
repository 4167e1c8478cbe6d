"""Whether a closed gap stays closed: what readers asked, visited and thought since then, in one line."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone

from analytics.models import Feedback
from assistant.improving.gaps import report
from assistant.improving.gaps.report import Effect
from assistant.models import QuestionGroup
from docsite.core.http.dates import find_day
from docsite.core.notifications.email_content import Item, Section
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project

CLOSED_WITHIN = timedelta(days=60)
MAX_CLOSED = 5  # the latest ones
MIN_HELD = 0.8  # the share of the questions since then that must be answered
MAX_TEXT = 160  # characters of a question


@dataclass(frozen=True)
class Closed:
    """A gap that was closed, with what came after. `thumbs` are those up and down on answers since then."""

    group: int
    question: str
    closed_on: str
    page: str
    effect: Effect
    visitors: int
    thumbs: tuple[int, int]
    is_answered: bool  # by the present index

    @property
    def verdict(self) -> str:
        """Whether it held, in a few words."""
        if not self.is_answered:
            return "did not hold: the present pages do not answer it"
        if not self.effect.since:
            return "nobody asked it since"
        return "held" if self.effect.answered_since >= MIN_HELD * self.effect.since else "did not hold"

    def describe(self) -> str:
        """What became of it, in one line."""
        effect, (up, down) = self.effect, self.thumbs
        facts = [f"{effect.answered_since:,} of {effect.since:,} answered since {self.closed_on}"]
        facts += [f"{effect.answered_before:,} of {effect.before:,} before"] if effect.before else []
        facts += [f"{self.visitors:,} visitors of {self.page}"] if self.page else []
        facts += [f"thumbs {up:,} up, {down:,} down"] if up or down else []
        return f"{self.verdict} ({', '.join(facts)})"


def find_closed(project: Project, now: datetime | None = None) -> list[Closed]:
    """The gaps that were closed lately, the latest first."""
    now = now or timezone.now()
    fixed = QuestionGroup.objects.filter(
        project=project, state=QuestionGroup.State.FIXED, fixed_at__gte=now - CLOSED_WITHIN, fixed_at__lte=now
    )
    return [measure(group, now) for group in fixed.order_by("-fixed_at", "-pk")[:MAX_CLOSED]]


def measure(group: QuestionGroup, now: datetime) -> Closed:
    """What became of a group that is fixed."""
    from analytics.reports import visitor_counts  # imports numpy

    project, since = group.project, group.fixed_at or now
    page = group.asked_paths[0] if group.asked_paths else ""
    visitors = visitor_counts.count_visitors(project, since, max(now, since), fresh=False) if page else None
    rated = Feedback.objects.filter(project=project, message__grouped__group=group, created_at__gte=since)
    thumbs = rated.aggregate(up=Count("pk", filter=Q(helpful=True)), down=Count("pk", filter=Q(helpful=False)))
    effect = report.measure_effects([group]).get(group.pk, Effect())
    text = redact(" ".join(group.question.split()))
    return Closed(
        group.pk,
        text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…",
        str(find_day(since)),
        page,
        effect,
        visitors.of(page)["total"] if visitors else 0,
        (thumbs["up"], thumbs["down"]),
        is_answered=group.asked_at is None or group.answered_since is not None,
    )


def describe_group(group: QuestionGroup) -> str:
    """The line on the page of a group; empty if it is not closed."""
    if group.state != QuestionGroup.State.FIXED:
        return ""
    line = measure(group, timezone.now()).describe()
    return f"{line[0].upper()}{line[1:]}."


def list_closed(project: Project, start: datetime, end: datetime) -> Section | None:
    """The section of the digest."""
    gaps = f"/admin/project/{project.domain}/gaps"
    items = [
        Item(one.question, f"{one.describe()}.", f"{gaps}/{one.group}", _share(one.effect))
        for one in find_closed(project, end)
        if one.effect.since or not one.is_answered
    ]
    return Section("What became of closed gaps", items) if items else None


def _share(effect: Effect) -> str:
    return f"{effect.answered_since / effect.since:.0%}" if effect.since else "–"
