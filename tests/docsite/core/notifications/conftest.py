"""A project with a person who gets e-mail about it."""

import re

import pytest
from django.contrib.auth import get_user_model

from docsite.core.notifications.models import Subscription

SERVICE = "https://docs-service.acme.example"


@pytest.fixture
def subscribe():
    """Let a member of the project's organization get topics. Returns the subscription."""

    def subscribe(project, *topics, name="owner", role="owner", **facts):
        user, _ = get_user_model().objects.get_or_create(
            username=f"{name} of {project.domain}", defaults={"is_staff": True, **facts}
        )
        if role:
            project.organization.memberships.update_or_create(user=user, defaults={"role": role})
        email = f"{name}-{project.domain}@acme.example"
        return Subscription.objects.create(
            project=project, user=user, email=email, confirmed_email=email, topics=" ".join(topics), service_url=SERVICE
        )

    return subscribe


@pytest.fixture
def letters(mailbox, send_all):
    """Send what is due. Returns the e-mail to a subscription."""

    def letters(subscription):
        send_all()
        return [letter for letter in mailbox.mail if letter["To"] == subscription.email]

    return letters


def unsubscribe_path(letter):
    """The path of the link that ends a topic."""
    return re.search(r"<https://[^/]+(/unsubscribe/[^>]+)>", letter["List-Unsubscribe"])[1]
