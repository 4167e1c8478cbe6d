"""The configuration of the app."""

from django.apps import AppConfig


class DoctorConfig(AppConfig):
    """The examination of a set-up, by the command `doctor`."""

    name = "docsite.extras.doctor"
    label = "doctor"
