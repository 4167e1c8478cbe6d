"""`manage.py runserver`: Daphne's command, which reloads changed code and serves with Django's own settings."""

from daphne.management.commands.runserver import Command

__all__ = ["Command"]
