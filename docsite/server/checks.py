"""Warnings for operators at start-up."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

from docsite.server.health import descriptors


@register()
def scripts_are_built(**kwargs: Any) -> list[CheckMessage]:
    """Warn when the scripts for other sites are missing: the build creates them, and they are not in the repository."""
    if all((settings.WIDGET_DIST / name).exists() for name in ("widget.js", "views.js")):
        return []
    return [Warning("The scripts for other sites have not been built.", hint="Run `make widget`.", id="docsite.W001")]


@register()
def debug_is_off(**kwargs: Any) -> list[CheckMessage]:
    """Warn about DEBUG on a public host, since tracebacks show settings."""
    hosts = set(settings.ALLOWED_HOSTS) - {"127.0.0.1", "localhost", "[::1]"}
    if settings.DEBUG and hosts:
        return [Warning("DEBUG is on for a public host.", hint="Unset DEBUG.", id="docsite.W002")]
    return []


@register()
def descriptors_suffice(**kwargs: Any) -> list[CheckMessage]:
    """Warn when a process may open few files. Each reader takes one, and each connection of ours another."""
    limit = descriptors.raise_limit()
    if limit >= descriptors.MIN_DESCRIPTORS:
        return []
    sentence = f"A process may open only {limit} files and connections."
    return [Warning(sentence, hint=descriptors.ADVICE, id="docsite.W003")]
