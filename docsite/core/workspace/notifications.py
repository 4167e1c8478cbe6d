"""The page "Notifications": what a person gets by e-mail about a project, and the alerts that are open."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from docsite.core.base_path import service_url
from docsite.core.delivery import mail, sending
from docsite.core.notifications import confirmation, digest, topics
from docsite.core.notifications.models import Alert, Subscription
from docsite.core.notifications.subscriptions import Recipient
from docsite.core.notifications.topics import Topic
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation

KEY = "notifications"
TEST_PAUSE_SECONDS = 60


class NotificationsForm(forms.Form):
    """An address and topics."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    topics = forms.MultipleChoiceField(
        label="What you get", required=False, widget=forms.CheckboxSelectMultiple, help_text="Empty: nothing."
    )

    def __init__(self, *args: Any, choices: list[Topic], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["topics"].choices = [(choice.key, choice.label) for choice in choices]  # type: ignore[attr-defined]


def show_notifications(request: HttpRequest, project: Project) -> HttpResponse:
    """Show what the user gets, and save it. A new address gets a link that confirms it.

    A digest can be sent at once, to see that e-mail arrives.
    """
    assert request.user.is_authenticated
    user = request.user
    offered = topics.list_topics(user, project)
    stored = Subscription.objects.filter(project=project, user=user.pk).select_related("project").first()
    initial = {"email": stored.email if stored else user.email, "topics": stored.topics.split() if stored else []}
    is_saving = request.method == "POST" and "save" in request.POST
    form = NotificationsForm(request.POST if is_saving else None, initial=initial, choices=offered)
    if is_saving and form.is_valid():
        values = {
            "email": form.cleaned_data["email"],
            "topics": " ".join(form.cleaned_data["topics"]),
            "service_url": service_url(request),
        }
        saved, _ = Subscription.objects.update_or_create(project=project, user=user, defaults=values)
        is_new = not saved.is_confirmed and (stored is None or stored.email != saved.email)
        if is_new and not confirmation.request_confirmation(saved):
            messages.warning(request, confirmation.TOO_MANY)
        messages.success(request, "Saved.")
        return HttpResponseRedirect(request.path)
    result = None
    if "confirm" in request.POST and stored and not stored.is_confirmed:
        is_sent = confirmation.request_confirmation(stored)
        result = (is_sent, "The link is on its way." if is_sent else confirmation.TOO_MANY)
    if "test" in request.POST and stored and stored.is_confirmed and mail.is_configured():
        may_send = caches["limits"].add(f"digest-test-{user.pk}", 1, TEST_PAUSE_SECONDS)
        result = _send_digest(stored) if may_send else (False, "You have just sent one. Wait a minute.")
    keys = [topic.key for topic in offered]
    context = {
        "form": form,
        "stored": stored,
        "result": result,
        "has_mail_server": mail.is_configured(),
        "alerts": Alert.objects.filter(project=project, cleared_at=None, topic__in=keys).order_by("opened_at"),
    }
    name = "admin/workspace/notifications.html"
    return navigation.render(request, name, project, "Notifications", context, wrong=form.errors)


def _send_digest(stored: Subscription) -> tuple[bool, str]:
    """Send the digest of the last week now. Returns whether it succeeded, with a sentence."""
    monday = digest.find_monday(timezone.now(), stored.project.zone)
    email = digest.build_email(Recipient(stored, topics.DIGEST), monday)
    return sending.try_to_send(email, digest.ISSUED)


navigation.add_page(
    KEY,
    "Notifications",
    group="Operation",
    position=90,
    views=[("", show_notifications, "")],
    reads=Role.VIEWER,
    acts=Role.VIEWER,
)
