"""The configuration of the app."""

from django.apps import AppConfig


class DeliveryConfig(AppConfig):
    """Deliveries to owners."""

    name = "docsite.core.delivery"
    label = "delivery"
    verbose_name = "Deliveries"
