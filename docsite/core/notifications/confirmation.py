"""The confirmation of an e-mail address: its owner opens a link that the service sends there.

Until then the address gets nothing else, so that nobody can send the service's e-mail to others.
"""

import hashlib
from datetime import timedelta

from django.core import signing
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from docsite.core.base_path import without_base
from docsite.core.delivery import outbox
from docsite.core.delivery.messages import DeliveryUnwantedError, Email
from docsite.core.delivery.models import Delivery
from docsite.core.http import ratelimit
from docsite.core.http.errors import TooMany
from docsite.core.http.ratelimit import Limit
from docsite.core.notifications.models import Subscription
from docsite.core.notifications.subscriptions import LINK_HEADERS, UNWANTED

REQUESTED = "address.confirmation_requested"  # the kind of its deliveries
LIFETIME = timedelta(days=3)  # of a link
MAX_LINKS_PER_HOUR = 5  # of a person, for a project
CONFIRMATION_EMAIL = Limit("confirmation-email", "10/h", "Links that confirm an e-mail address", fail_open=True)
TOO_MANY = "Too many links were sent. Try again in an hour."
_SALT = "docsite.core.notifications.confirmation"


def request_confirmation(subscription: Subscription) -> bool:
    """Send a link to the address of a person, for one project. Returns whether the limits of links allow it.

    One limit is for the person and the project, another for the address, whoever names it in whichever project.
    """
    subject = f"confirmation:{subscription.pk}"
    hour = Delivery.objects.filter(
        project=subscription.project_id, subject=subject, created_at__gt=timezone.now() - timedelta(hours=1)
    )
    if hour.count() >= MAX_LINKS_PER_HOUR:  # before the limit of the address, which others need
        return False
    address = hashlib.sha256(subscription.email.casefold().encode()).hexdigest()
    try:
        ratelimit.spend((CONFIRMATION_EMAIL, address))
    except TooMany:
        return False
    with transaction.atomic():
        Subscription.objects.select_for_update().get(pk=subscription.pk)  # of several requests at once
        if hour.count() >= MAX_LINKS_PER_HOUR:
            return False
        outbox.add(subscription.project, REQUESTED, subject, [Delivery.Channel.EMAIL])
    return True


def render(delivery: Delivery) -> Email:
    """The e-mail with the link. Raises `DeliveryUnwantedError` if the address is confirmed or gone."""
    number = delivery.subject.rpartition(":")[2]
    waiting = Subscription.objects.exclude(confirmed_email=F("email")).select_related("project", "user")
    subscription = waiting.filter(pk=number).first()
    if subscription is None:
        raise DeliveryUnwantedError(UNWANTED)
    context = {"subscription": subscription, "url": build_url(subscription), "days": LIFETIME.days}
    text = render_to_string("notifications/confirm.txt", context)
    return Email([subscription.email], f"[{subscription.project.name}] Confirm your e-mail address", text)


def build_url(subscription: Subscription) -> str:
    """The link that confirms the present address of a subscription."""
    token = signing.dumps({"subscription": subscription.pk, "email": subscription.email}, salt=_SALT)
    return f"{subscription.service_url}{without_base(reverse('confirm_address', args=[token]))}"


@csrf_exempt  # the token is a secret of its receiver, who needs no session
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether to confirm an address. A POST does it. A GET changes nothing, since scanners open links of e-mail."""
    try:
        named = signing.loads(token, salt=_SALT, max_age=LIFETIME)
    except signing.BadSignature:
        named = {}
    own = Subscription.objects.filter(pk=named.get("subscription"), email=named.get("email", ""))
    if request.method == "POST":
        own.update(confirmed_email=F("email"))
    found = own.select_related("project").first()
    context = {
        "title": "Confirm your e-mail address",
        "project": None,
        "subscription": found,
    }
    status = 200 if found else 404
    return TemplateResponse(request, "notifications/confirm.html", context, status=status, headers=LINK_HEADERS)
