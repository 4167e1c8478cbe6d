"""The daily limit of tokens: counts what a project uses of the model servers on a day (UTC)."""

from datetime import UTC, date, datetime

from django.conf import settings
from django.db.models import F

from assistant.models import TokenUse
from docsite.core.tenants.models import Project


def charge(project: Project, day: date, tokens: int) -> None:
    """Add to the tokens of a project's day. A negative number gives tokens back, after an estimate was too high.

    Give tokens back on the day on which they were charged: a day cannot have less than none.
    """
    use, _ = TokenUse.objects.get_or_create(project=project, day=day)
    TokenUse.objects.filter(pk=use.pk).update(tokens=F("tokens") + tokens)


def is_limit_reached(project: Project) -> bool:
    """Whether the project has used its tokens of today (`DAILY_TOKENS_PER_PROJECT`)."""
    used = TokenUse.objects.filter(project=project, day=today()).values_list("tokens", flat=True).first() or 0
    return used >= settings.ENV.daily_tokens_per_project


def today() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()
