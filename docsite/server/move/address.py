"""The address of the other database, as an argument or in the environment, where other users do not see it."""

import os
from pathlib import Path

from django.core.management.base import CommandError

from docsite import database_settings

VARIABLE = "NEW_DATABASE_URL"


def read_url(argument: str | None = None) -> str:
    """The address. Raises CommandError when there is none, or it cannot be understood."""
    url = argument or os.environ.get(VARIABLE, "")
    if not url.startswith(("postgres://", "postgresql://", "sqlite://")):
        raise CommandError(
            f"Name the new database by {VARIABLE}: postgres://user:password@host/name or sqlite:///path."
        )
    try:
        database_settings.describe(url, Path())
    except ValueError as wrong:
        raise CommandError(f"The address of the new database: {wrong}.") from None
    return url
