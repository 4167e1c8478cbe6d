"""The sessions of the admin."""

from importlib import import_module

from django.conf import settings


def sweep() -> None:
    """Delete the sessions that have expired. Their users have to log in again anyway."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
