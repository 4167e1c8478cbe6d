"""The configuration of the app."""

from django.apps import AppConfig


class ModelCheckConfig(AppConfig):
    """The check of a model server, by the command `checkmodel`."""

    name = "docsite.extras.model_check"
    label = "model_check"
