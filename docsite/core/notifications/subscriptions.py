"""Who gets a topic, and the signed link by which a person ends it without a log-in."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.core import signing
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from docsite.core.base_path import without_base
from docsite.core.delivery import outbox
from docsite.core.delivery.messages import DeliveryUnwantedError
from docsite.core.delivery.models import Delivery
from docsite.core.notifications import topics
from docsite.core.notifications.models import Subscription
from docsite.core.notifications.topics import Topic
from docsite.core.tenants.models import Project

_SALT = "docsite.core.notifications"
UNWANTED = "The person does not want this e-mail any more, or may not have it."
LINK_HEADERS = {  # of a page whose address is a secret, which no search engine and no other site should learn
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@dataclass(frozen=True)
class Recipient:
    """A subscription and the topic that an e-mail is about."""

    subscription: Subscription
    topic: Topic

    @property
    def unsubscribe_url(self) -> str:
        """The link that ends this topic. It works as long as the subscription exists."""
        token = signing.dumps({"subscription": self.subscription.pk, "topic": self.topic.key}, salt=_SALT)
        return f"{self.subscription.service_url}{without_base(reverse('unsubscribe', args=[token]))}"


def list_receivers(topic: str, project: Project | None = None) -> list[Subscription]:
    """The subscriptions that get e-mail about a topic: they have chosen it, and their address is confirmed.

    Those of one project, or of all.
    """
    found = (
        Subscription.objects.filter(topics__contains=topic, confirmed_email=F("email"))
        .select_related("project")
        .order_by("pk")
    )
    if project:
        found = found.filter(project=project)
    return [subscription for subscription in found if topic in subscription.topics.split()]


def add_deliveries(receivers: Iterable[Subscription], event: str, subject: object) -> None:
    """Add an e-mail about a subject for each of the receivers."""
    for receiver in receivers:
        outbox.add(receiver.project, event, f"{subject}:{receiver.pk}", [Delivery.Channel.EMAIL])


def find_recipient(delivery: Delivery, topic: str) -> Recipient:
    """Who gets an e-mail that is being sent. Raises `DeliveryUnwantedError` if that person may or will not have it."""
    number = delivery.subject.rpartition(":")[2]
    found = Subscription.objects.select_related("user", "project").filter(pk=number).first()
    if found is None or not found.is_confirmed or topic not in found.topics.split():
        raise DeliveryUnwantedError(UNWANTED)
    wanted = topics.find_topic(topic)
    if wanted is None or wanted not in topics.list_topics(found.user, found.project):
        raise DeliveryUnwantedError(UNWANTED)
    return Recipient(found, wanted)


@csrf_exempt  # mail programs send the POST request (RFC 8058); the token is a secret of its receiver
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether to end a topic. A POST ends it. A GET changes nothing, since scanners open the links of e-mail."""
    try:
        named = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        named = {}
    found = Subscription.objects.filter(pk=named.get("subscription")).select_related("project").first()
    topic = str(named.get("topic", ""))
    named_topic = topics.find_topic(topic)
    if found and request.method == "POST":
        found.topics = " ".join(key for key in found.topics.split() if key != topic)
        found.save(update_fields=["topics"])
    context = {
        "title": "Unsubscribe",
        "project": None,
        "name": found.project.name if found else "",
        "label": named_topic.label if named_topic else topic,
        "is_found": found is not None,
        "is_ended": found is not None and topic not in found.topics.split(),
    }
    status = 200 if found else 404
    return TemplateResponse(request, "notifications/unsubscribe.html", context, status=status, headers=LINK_HEADERS)
