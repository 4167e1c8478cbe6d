"""Where deliveries of a test arrive: a mail server, and a receiver of webhooks."""

import pytest
from django.conf import settings as django_settings
from django.db.models import Count, F
from django.utils import timezone

from docsite.core.delivery import background
from docsite.core.delivery.models import Delivery
from tests.conftest import wait_for
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
    """Send everything that is due, and wait for what a service of another test sends.

    What such a service had begun when it ended stays unfinished: only what this test causes counts.
    """
    begin = timezone.now()

    def has_unfinished():
        mine = Delivery.objects.filter(state="waiting", webhook__isnull=False, created_at__gte=begin)
        events = mine.annotate(tried=Count("attempts"))
        return events.filter(attempt_count__gt=F("tried")).exists()

    def send():
        while background.send_next():
            pass
        wait_for(lambda: not has_unfinished(), "the services of other tests")

    return send
