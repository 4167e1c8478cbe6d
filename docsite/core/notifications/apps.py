"""The configuration of the app."""

from django.apps import AppConfig

from docsite.core import components


class NotificationsConfig(AppConfig):
    """Digests and alerts."""

    name = "docsite.core.notifications"
    label = "notifications"
    verbose_name = "Notifications"

    def ready(self) -> None:
        """Register the alerts of the core, and let the outbox deliver e-mail of this app."""
        from docsite.core.delivery import outbox
        from docsite.core.notifications import alerts, confirmation, core_alerts, digest

        components.register("docsite.core.notifications.components")
        core_alerts.register()
        outbox.add_event_kind(alerts.OPENED, alerts.render)
        outbox.add_event_kind(alerts.CLEARED, alerts.render)
        outbox.add_event_kind(confirmation.REQUESTED, confirmation.render)
        outbox.add_event_kind(digest.ISSUED, digest.render)
