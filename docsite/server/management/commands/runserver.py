"""`manage.py runserver`, for development: Daphne's command, which starts anew when the code changes."""

from daphne.management.commands.runserver import Command

__all__ = ["Command"]
