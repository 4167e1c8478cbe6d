"""The configuration of the app."""

from django.apps import AppConfig


class AccessLogsConfig(AppConfig):
    """Page views from the logs of web servers, by the command `importlog`."""

    name = "docsite.extras.access_logs"
    label = "access_logs"
