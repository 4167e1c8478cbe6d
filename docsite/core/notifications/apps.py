"""The configuration of the app."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Digests and alerts."""

    name = "docsite.core.notifications"
    label = "notifications"
    verbose_name = "Notifications"

    def ready(self) -> None:
        """Register the alerts of the core, and let the outbox deliver alerts and digests."""
        from docsite.core.notifications import alerts, core_alerts, digest

        core_alerts.register()
        alerts.register()
        digest.register()
