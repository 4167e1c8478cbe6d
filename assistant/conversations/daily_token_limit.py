"""The daily limit of tokens: counts what a project uses of the model servers on a day (UTC)."""

from datetime import UTC, date, datetime

from django.conf import settings
from django.db.models import F

from assistant.models import TokenUse
from docsite.core.tenants.models import Project


def charge(project: Project, tokens: int) -> None:
    """Add to the tokens of the project's day. A negative number gives tokens back, after an estimate was too high."""
    use, _ = TokenUse.objects.get_or_create(project=project, day=_today())
    TokenUse.objects.filter(pk=use.pk).update(tokens=F("tokens") + tokens)


def is_limit_reached(project: Project) -> bool:
    """Whether the project has used its tokens of today (`DAILY_TOKENS_PER_PROJECT`)."""
    used = TokenUse.objects.filter(project=project, day=_today()).values_list("tokens", flat=True).first() or 0
    return used >= settings.ENV.daily_tokens_per_project


def _today() -> date:
    return datetime.now(UTC).date()
