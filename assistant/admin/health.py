"""What the page "Limits and health" shows of the assistant: budget, running answers, model servers."""

import time
from collections import Counter
from datetime import timedelta

from django.db.models import Sum
from django.utils import timezone

from assistant.admin.conversations.list_state import RUNGS
from assistant.models import AssistantSettings, Message, TokenReservation, TokenUse
from assistant.running_answers.capacity import answer_slots
from assistant.spending.budget import NOTICE_PERCENT, list_limits, today_utc
from assistant.spending.prices import format_money
from assistant.upstream.breaker import MAX_FAILURES, breaker_of
from assistant.upstream.model_choice import list_models
from docsite.core.http.errors import format_duration
from docsite.core.tenants.models import Project
from docsite.core.workspace.health.sections import Fact, add_section

LATEST = 500  # answers in which errors are looked for
MAX_ERRORS = 5


def list_budget(project: Project) -> list[Fact]:
    """What the project has used of its tokens and its money, and what running answers have reserved."""
    reserved = TokenReservation.objects.filter(project=project, reserved_tokens__gt=0).aggregate(
        tokens=Sum("reserved_tokens", default=0), cost=Sum("reserved_cost", default=0)
    )
    facts = []
    for limit in list_limits(project):
        values = [_format(amount, limit.field) for amount in (limit.used, limit.size, reserved[limit.field])]
        share = (limit.used + reserved[limit.field]) / limit.size if limit.size else 1.0
        state = "bad" if limit.percent >= NOTICE_PERCENT else ""
        label = limit.name[:1].upper() + limit.name[1:]
        facts.append(Fact(label, f"{values[0]} of {values[1]}", f"{values[2]} reserved", share, state))  # type: ignore[arg-type]  # one of the states
    if facts:
        return facts
    use = TokenUse.objects.filter(project=project, day=today_utc()).first()
    tokens, cost = (use.tokens, use.cost) if use else (0, 0)
    note = f"{_format(cost, 'cost')} in money; {_format(reserved['tokens'], 'tokens')} reserved; no limit is set"
    return [Fact("Tokens today (UTC)", f"{tokens:,}", note)]


def list_running(project: Project) -> list[Fact]:
    """The answers that run now."""
    recent = timezone.now() - timedelta(hours=1)
    running = Message.objects.filter(project=project, outcome=Message.Outcome.RUNNING, created_at__gte=recent).count()
    own = answer_slots.count(project.organization_id)
    return [
        Fact("Running answers", f"{running:,}", "of this project, in all processes"),
        Fact("In this process", f"{own:,}", "of all projects of the organization"),
    ]


def list_model_servers(project: Project) -> list[Fact]:
    """How the last answer was made, the state of each model's server, and recent errors."""
    answers = Message.objects.filter(project=project, outcome__isnull=False).order_by("-created_at")
    latest = list(answers.values_list("rung", "reason", "created_at")[:LATEST])
    facts = []
    if latest:
        rung, _, at = latest[0]
        facts.append(Fact("Last answer", RUNGS.get(rung, "none"), f"{at:%Y-%m-%d %H:%M:%S} UTC"))
    models = list_models(AssistantSettings.for_project(project))
    for model in models:
        breaker = breaker_of(model)
        wait = breaker.open_until - time.monotonic()
        if breaker.failures < MAX_FAILURES:
            facts.append(Fact(model.name, "in use", f"{breaker.failures} failures in a row", state="good"))
        else:
            rest = f"for {format_duration(int(wait) + 1)} more" if wait > 0 else "until the next question tries it"
            facts.append(Fact(model.name, "paused after failures", f"{rest}, in this process", state="bad"))
    if not models:
        facts.append(Fact("Model", "none", "answers are quotes from the documentation"))
    day = timezone.now() - timedelta(days=1)
    errors = Counter(reason for _, reason, at in latest if reason and at >= day)
    return facts + [
        Fact(
            "Not answered by the model",
            f"{number:,} answer{'s' * (number != 1)}",
            f"{reason}; in 24 hours",
            state="bad",
        )
        for reason, number in errors.most_common(MAX_ERRORS)
    ]


def _format(amount: int, field: str) -> str:
    return f"{amount:,}" if field == "tokens" else format_money(amount)


add_section("Budget", list_budget, position=20)
add_section("Answers", list_running, position=30)
add_section("Model", list_model_servers, position=40)
