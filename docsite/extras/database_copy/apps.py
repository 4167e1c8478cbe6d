"""The configuration of the app."""

from django.apps import AppConfig


class DatabaseCopyConfig(AppConfig):
    """Copies of the database, by the commands `backup`, `restore` and `movedatabase`."""

    name = "docsite.extras.database_copy"
    label = "database_copy"
