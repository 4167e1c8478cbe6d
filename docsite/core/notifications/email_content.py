"""The e-mail of a digest or an alert, as text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.template.loader import render_to_string

from docsite.core.delivery.messages import Email
from docsite.core.notifications.subscriptions import Recipient


@dataclass(frozen=True)
class Item:
    """A line of a section: a text, perhaps with a note, a link and a number that stands first."""

    text: str
    note: str = ""
    path: str = ""
    number: str = ""


@dataclass(frozen=True)
class Section:
    """A part of an e-mail, below a heading."""

    heading: str
    items: Sequence[Item]


@dataclass(frozen=True)
class EmailContent:
    """What an e-mail says. `path` is that of the page in the admin to which its button leads."""

    subject: str
    heading: str
    intro: str
    button: str
    path: str
    sections: Sequence[Section] = field(default_factory=tuple)


def build_email(content: EmailContent, recipient: Recipient) -> Email:
    """The e-mail to a person, with the link that ends its topic."""
    subscription = recipient.subscription
    context = {
        "content": content,
        "project": subscription.project,
        "origin": subscription.service_url,
        "label": recipient.topic.label,
        "unsubscribe": recipient.unsubscribe_url,
        "settings": f"{subscription.service_url}/admin/project/{subscription.project.domain}/notifications",
    }
    return Email(
        [subscription.email],
        content.subject,
        render_to_string("notifications/email.txt", context),
        html=render_to_string("notifications/email.html", context),
        unsubscribe_url=recipient.unsubscribe_url,
    )
