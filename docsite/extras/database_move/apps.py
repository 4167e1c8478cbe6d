"""The configuration of the app."""

from django.apps import AppConfig


class DatabaseMoveConfig(AppConfig):
    """The move to another database, by the command `movedatabase`."""

    name = "docsite.extras.database_move"
    label = "database_move"
