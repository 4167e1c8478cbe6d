"""What the owner of a project should do next: at most three steps, the most urgent first."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Count
from django.http import HttpRequest
from django.urls import reverse

from analytics.dashboard import coverage
from analytics.models import Feedback
from assistant.conversations import answer_statistics
from assistant.conversations.outcomes import WITHOUT_ANSWER, count_unanswered
from assistant.improving.gaps.report import ALL
from assistant.models import Message, SupportRequest
from assistant.spending import budget
from docsite.core.tenants.models import ApiKey, Project
from docsite.core.workspace import navigation
from search.models import Document, Source
from search.query_log import totals

MAX_STEPS = 3
EXPIRY_NOTICE = timedelta(days=14)
STALE = timedelta(days=60)  # without a new ingest


@dataclass(frozen=True)
class NextStep:
    """A step: why, and the link to the page where it is done."""

    reason: str
    label: str
    url: str


def find_next_steps(
    request: HttpRequest, project: Project, start: datetime, end: datetime, now: datetime, dates: str
) -> list[NextStep]:
    """Find what needs the user's hand in the range of the page's numbers. `dates`: the range as a query string."""
    urls = defaultdict(str, navigation.find_urls(request, project))
    steps = (step for step in _walk(urls, project, start, end, now, dates) if step.url)
    return list(islice(steps, MAX_STEPS))


def count_waiting(projects: Sequence[Project], start: datetime, end: datetime) -> tuple[dict[int, int], dict[int, int]]:
    """Count what waits for a person in each project: open support requests, and pending feedback of a range.

    Two dictionaries by the primary key of the project. A project for which nothing waits is in neither.
    """
    requests = SupportRequest.objects.filter(project__in=projects, state=SupportRequest.State.OPEN)
    feedback = Feedback.objects.filter(project__in=projects, created_at__gte=start, created_at__lt=end)
    rows = (requests, feedback.filter(status=Feedback.Status.PENDING))
    support, pending = (dict(some.order_by().values_list("project").annotate(Count("pk"))) for some in rows)
    return support, pending


def list_waiting(
    urls: Mapping[str, str], dates: str, requests: int, unanswered: int, feedback: int
) -> Iterator[NextStep]:
    """What readers wait for. `urls`: of the pages that the user may open, by their keys."""
    if requests and "support" in urls:
        reason = "1 support request is" if requests == 1 else f"{requests:,} support requests are"
        yield NextStep(f"{reason} open.", "Answer", urls["support"])
    if unanswered:
        reason = "1 question has" if unanswered == 1 else f"{unanswered:,} questions have"
        url = f"{urls['gaps']}{dates}&problem={WITHOUT_ANSWER}&state={ALL}"
        yield NextStep(f"{reason} no answer.", "See what is missing", url)
    if feedback:
        reason = "1 piece of feedback waits" if feedback == 1 else f"{feedback:,} pieces of feedback wait"
        yield NextStep(f"{reason} for you.", "Read it", f"{urls['feedback']}{dates}&status={Feedback.Status.PENDING}")


def _walk(
    urls: Mapping[str, str], project: Project, start: datetime, end: datetime, now: datetime, dates: str
) -> Iterator[NextStep]:
    if not Document.objects.filter(project=project).exists():
        yield NextStep("There are no pages to answer from.", "Add a source", urls["sources"])
    if failed := Source.objects.filter(project=project, state=Source.State.FAILED).first():
        yield NextStep(f"The source {failed} could not be read.", "See why", urls["sources"])
    for limit in budget.list_limits(project):
        if limit.percent >= budget.NOTICE_PERCENT:
            yield NextStep(f"{limit.percent} % of the {limit.name} are used.", "See the limits", urls["limits"])
    if not answer_statistics.find_first_time(project) and not Message.objects.filter(thread__project=project).exists():
        yield NextStep("Nobody has asked a question yet.", "Put the tag on your pages", urls["install"])
    if coverage.latest_hour(project) is None:
        yield NextStep("No page views are counted yet.", "Three ways to collect them", urls["visitors"])
    expiring = ApiKey.objects.filter(
        organization=project.organization_id,
        revoked_at=None,
        expires_at__gt=now,
        expires_at__lte=now + EXPIRY_NOTICE,
    ).exclude(project__in=project.organization.projects.exclude(pk=project.pk))
    if key := expiring.order_by("expires_at").first():
        yield NextStep(
            f"The key {key.name or key} expires on {key.expires_at:%Y-%m-%d}.", "Make a new one", urls["keys"]
        )
    unanswered = count_unanswered(answer_statistics.count_outcomes([project], start, end)[0])
    (requests, pending) = (counts.get(project.pk, 0) for counts in count_waiting([project], start, end))
    yield from list_waiting(urls, dates, requests, unanswered, pending)
    if empty := totals.count_searches(project, start, end).without_result:
        reason = "1 search" if empty == 1 else f"{empty:,} searches"
        yield NextStep(f"{reason} found nothing.", "See the words", f"{urls['searches']}{dates}&tab=empty")
    indexed = getattr(getattr(project, "generation", None), "indexed_at", None)
    if indexed and now - indexed > STALE:
        yield NextStep(f"The pages are from {indexed:%Y-%m-%d}.", "Read them again", urls["sources"])
    if not project.golden_questions.exists():
        url = reverse("admin:assistant_goldenquestion_add")
        yield NextStep("There are no golden questions yet.", "Add the first", url)
