"""Where deliveries of a test arrive: a mail server, and a receiver of webhooks."""

import pytest
from django.conf import settings as django_settings

from docsite.core.delivery import background
from docsite.core.delivery.models import Delivery
from tests.receivers import serve_mail, serve_webhook


@pytest.fixture
def settings_of(settings):
    """Change settings of the environment."""

    def change(**values):
        settings.ENV = django_settings.ENV.model_copy(update=values)

    return change


@pytest.fixture
def mailbox(settings, settings_of):
    with serve_mail() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", int(server.url.rpartition(":")[2])
        settings.DEFAULT_FROM_EMAIL = "Docs <docs@acme.example>"
        settings_of(email_url=server.url)
        yield server


@pytest.fixture
def receiver(settings_of):
    with serve_webhook() as receiver:
        settings_of(webhook_private_hosts=(f"127.0.0.1:{receiver.port}",))
        yield receiver


@pytest.fixture
def send_all():
    """Send the deliveries of this test that are due. Those that earlier tests left unsent are never sent."""
    Delivery.objects.filter(due_at__isnull=False).update(due_at=None)

    def send():
        while background.send_next():
            pass

    return send
