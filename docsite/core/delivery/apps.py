"""The configuration of the app."""

from django.apps import AppConfig

from docsite.core import components


class DeliveryConfig(AppConfig):
    """Deliveries to owners."""

    name = "docsite.core.delivery"
    label = "delivery"
    verbose_name = "Deliveries"
    audited = ("Webhook",)

    def ready(self) -> None:
        """Register what runs beside the requests."""
        components.register("docsite.core.delivery.components")
