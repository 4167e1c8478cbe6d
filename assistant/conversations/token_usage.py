"""Counts the tokens of the model servers that a project uses on a day (UTC)."""

from datetime import UTC, date, datetime

from django.db.models import F

from assistant.models import TokenUse
from docsite.core.tenants.models import Project


def charge(project: Project, tokens: int) -> None:
    """Add to the tokens of the project's day. A negative number gives tokens back, after an estimate was too high."""
    use, _ = TokenUse.objects.get_or_create(project=project, day=_today())
    TokenUse.objects.filter(pk=use.pk).update(tokens=F("tokens") + tokens)


def count_tokens_of_today(project: Project) -> int:
    """Return the tokens that the project used today."""
    return TokenUse.objects.filter(project=project, day=_today()).values_list("tokens", flat=True).first() or 0


def _today() -> date:
    return datetime.now(UTC).date()
