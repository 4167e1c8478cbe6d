"""The configuration of the app."""

from django.apps import AppConfig


class SignOnConfig(AppConfig):
    """Single sign-on and two-factor log-in."""

    name = "docsite.core.sign_on"
    label = "sign_on"
    verbose_name = "Log-in"
    audited = ("GroupRole", "Identity")
