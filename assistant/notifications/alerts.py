"""The alerts of the assistant: a budget, a model that does not answer, and an answered rate that fell."""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from assistant.conversations.outcomes import count_asked, measure_rate
from assistant.improving.gaps import questions
from assistant.models import AssistantSettings, Message
from assistant.spending import budget
from assistant.spending.budget import BudgetLimit
from assistant.spending.prices import MILLION
from docsite.core.delivery import events
from docsite.core.delivery.events import Description, EventType
from docsite.core.delivery.models import Event
from docsite.core.http.dates import begin_day
from docsite.core.notifications import alerts
from docsite.core.notifications.alerts import Problem
from docsite.core.notifications.topics import Topic
from docsite.core.tenants.models import Project, Role

BUDGET_REACHED = "budget.reached"
MODEL_RUNGS = ("model", "second_model")
MODEL_FAILURES = 3  # answers in a row without the model
MODEL_WINDOW = timedelta(hours=1)
LATEST = 50  # answers that are looked at
RECENT, BEFORE = timedelta(days=3), timedelta(days=28)
MIN_RECENT, MIN_BEFORE = 20, 50  # questions: a rate of fewer says little
FALL, STILL_LOW = 0.15, 0.08  # of the answered rate: what opens an alert, and what keeps it open


def register() -> None:
    """Register the checks and the event."""
    alerts.add_check(Topic("budget", "80 % or all of a budget is used", Role.WRITER), find_used_budgets)
    alerts.add_check(Topic("model", "The model does not answer", Role.WRITER), find_silent_model)
    alerts.add_check(Topic("answered", "The answered rate fell"), find_fallen_rate)
    events.add_event_type(EventType(BUDGET_REACHED, "80 % or all of a budget is used", _describe))


def find_used_budgets(project: Project, open_causes: Collection[str]) -> Iterator[Problem]:
    """The limits of tokens and money of which much is used."""
    for limit in budget.list_limits(project):
        if not limit.size:  # the owner wants no model
            continue
        is_used_up = limit.percent >= 100 or _has_refused(project, limit)
        for percent in budget.NOTICE_PERCENTS:
            cause = f"{limit.name}:{percent}"
            is_reached = is_used_up if percent == 100 else limit.percent >= percent
            if not is_reached or (is_used_up and percent < 100 and cause not in open_causes):  # one alert is enough
                continue
            used = "is used up" if percent == 100 else f"is used to {percent} %"
            effect = "Until it begins anew, answers are" if percent == 100 else "When it is used up, answers will be"
            facts = {"limit": limit.name, "percent": percent, "used": limit.used, "size": limit.size}
            yield Problem(
                cause,
                f"The {limit.name} {used}",
                f"{effect} quotes from the pages instead of a model's words.",
                _page(project, "limits"),
                (BUDGET_REACHED, {**facts, "field": limit.field}),
            )


def _has_refused(project: Project, limit: BudgetLimit) -> bool:
    """Whether a question did not fit into the rest of a limit in its present period."""
    if limit.percent < budget.NOTICE_PERCENT:
        return False
    today = begin_day(timezone.now(), zone=UTC)
    begin = today if limit.period == "daily" else today.replace(day=1)
    reason = budget.PROJECT_REASON.format(name=limit.name)
    answers = Message.objects.filter(project=project, created_at__gte=begin, outcome__isnull=False)  # by its index
    return answers.filter(reason=reason).exists()


def _describe(event: Event) -> Description:
    facts = event.facts
    amounts = {name: facts[name] if facts["field"] == "tokens" else facts[name] / MILLION for name in ("used", "size")}
    data = {"limit": facts["limit"], "percent": facts["percent"], **amounts}
    return Description(data, f"{facts['percent']} % of the {facts['limit']} are used.", _page(event.project, "limits"))


def find_silent_model(project: Project, open_causes: Collection[str]) -> Iterator[Problem]:
    """The models, if the latest answers that should have come from one did not."""
    from assistant.upstream.model_choice import list_models  # loads the clients of model servers

    if not list_models(AssistantSettings.for_project(project)):
        return
    answers = Message.objects.filter(project=project, outcome__isnull=False).exclude(outcome=Message.Outcome.RUNNING)
    if not open_causes:  # an open alert ends only when a model answers
        answers = answers.filter(created_at__gte=timezone.now() - MODEL_WINDOW)
    rows = answers.order_by("-created_at").values_list("rung", "reason", "steps", "cut_by")[:LATEST]
    tried = [
        (rung in MODEL_RUNGS and cut_by != Message.CutBy.MODEL_SERVER, reason)
        for rung, reason, steps, cut_by in rows
        if _has_tried_model(steps, reason)
    ][:MODEL_FAILURES]
    if len(tried) == MODEL_FAILURES and not any(succeeded for succeeded, _ in tried):
        reason = Counter(reason for _, reason in tried).most_common(1)[0][0]
        yield Problem(
            "silent",
            "The model does not answer",
            f"The last {MODEL_FAILURES} answers came without the model: {reason}. Readers get quotes from the pages. "
            "The log of the service says what to change.",
            _page(project, "limits"),
        )


def _has_tried_model(steps: list[dict[str, str]], reason: str) -> bool:
    """Whether a model was asked, and not stopped by a limit of ours."""
    is_limited = reason.startswith(("the project's ", "this address ", "the budget ", "the question's "))
    return not is_limited and any(step.get("rung") in MODEL_RUNGS for step in steps)


def find_fallen_rate(project: Project, open_causes: Collection[str]) -> Iterator[Problem]:
    """The answered rate of the last days, if it is well below that of the weeks before."""
    now = timezone.now()
    recent, recent_rate = _measure_rate(project, now - RECENT, now)
    before, earlier_rate = _measure_rate(project, now - RECENT - BEFORE, now - RECENT)
    if recent < MIN_RECENT or before < MIN_BEFORE:
        return
    if earlier_rate - recent_rate >= (STILL_LOW if open_causes else FALL):
        yield Problem(
            "fell",
            f"The answered rate fell from {earlier_rate:.0%} to {recent_rate:.0%}",
            f"Of {recent:,} questions in the last {RECENT.days} days, {recent_rate:.0%} were answered with a page. In "
            f"the {BEFORE.days} days before, it was {earlier_rate:.0%}. Perhaps pages moved, or questions are new.",
            f"{_page(project, 'questions')}?from={now - RECENT:%Y-%m-%dT%H:%M:%SZ}&to={now:%Y-%m-%dT%H:%M:%SZ}",
        )


def _measure_rate(project: Project, start: datetime, end: datetime) -> tuple[int, float]:
    """The questions of a range without greetings, and the share that was answered."""
    counts = questions.count_outcomes(project, start, end, questions.QuestionFilters())
    return count_asked(counts), measure_rate(counts) or 0.0


def _page(project: Project, key: str) -> str:
    return f"/admin/project/{project.domain}/{key}"
