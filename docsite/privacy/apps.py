"""Registers the app."""

from django.apps import AppConfig


class PrivacyConfig(AppConfig):
    """The audit, and the erasure of readers' data."""

    name = "docsite.privacy"
    label = "privacy"
    verbose_name = "Privacy and audit"

    def ready(self) -> None:
        """Record the changes of keys, settings and roles from now on."""
        from docsite.privacy import audit

        audit.watch()
