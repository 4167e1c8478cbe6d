"""The configuration of the app."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Digests and alerts."""

    name = "docsite.core.notifications"
    label = "notifications"
    verbose_name = "Notifications"

    def ready(self) -> None:
        """Register the alerts of the core, and let the outbox deliver e-mail of this app."""
        from docsite.core.notifications import alerts, confirmation, core_alerts, digest

        core_alerts.register()
        alerts.register()
        confirmation.register()
        digest.register()
