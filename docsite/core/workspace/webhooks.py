"""The pages "Webhooks": the addresses of a project that receive events, and what became of the latest deliveries."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from docsite.core.base_path import service_url
from docsite.core.delivery import chats, events, outbox, sending, webhooks
from docsite.core.delivery.models import Delivery, Webhook
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation

KEY = "webhooks"
MAX_WEBHOOKS = 10  # of a project
MAX_DELIVERIES = 50  # that a page lists
BY_ADDRESS = ""
_URL_HELP = "An https address, or that of an incoming webhook of Slack, Microsoft Teams or Discord."


class WebhookForm(forms.Form):
    """An address, its format, and the events that it receives."""

    url = forms.CharField(
        label="Address",
        max_length=webhooks.MAX_URL,
        help_text=_URL_HELP,
        widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": "https://example.com/hooks/docs"}),
    )
    format = forms.ChoiceField(
        required=False, choices=[(BY_ADDRESS, "By the host of the address"), *Webhook.Format.choices]
    )
    events = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, is_superuser: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_superuser = is_superuser
        self.fields["events"].choices = [(one.name, one.label) for one in events.list_event_types()]  # type: ignore[attr-defined]

    def clean_url(self) -> str:
        """The address, if the user may name it."""
        url: str = self.cleaned_data["url"]
        webhooks.check_target(url, is_superuser=self.is_superuser)
        return url

    def save(self, webhook: Webhook, service_url: str) -> None:
        """Store the values in the webhook."""
        values = self.cleaned_data
        webhook.url, webhook.service_url = values["url"], service_url
        webhook.format = values["format"] or chats.find_format(values["url"])
        webhook.events = " ".join(values["events"])
        if webhook.pk is None:
            webhook.save()
        else:  # without the secret, which somebody may be rotating
            webhook.save(update_fields=["url", "service_url", "format", "events"])


def show_list(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the webhooks of a project. A POST adds one."""
    # Without that of support requests, which receives no events.
    rows = list(Webhook.objects.filter(project=project).exclude(events="").order_by("pk"))
    form = _build_form(request, None)
    if request.method == "POST" and form.is_valid():
        if len(rows) >= MAX_WEBHOOKS:
            form.add_error(None, ValidationError(f"A project has at most {MAX_WEBHOOKS} webhooks. Delete one first."))
        else:
            webhook, secret = webhooks.build(project, form.cleaned_data["url"])
            form.save(webhook, service_url(request))
            return _show(request, project, webhook, secret=secret)
    latest = {row.pk: row.deliveries.order_by("-pk").first() for row in rows}
    context = {
        "rows": [(row, navigation.page_url(KEY, project, row.pk, name="edit"), latest[row.pk]) for row in rows],
        "form": form,
    }
    return _respond(request, "list.html", project, "Webhooks", context, form)


def show_webhook(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Show a webhook with its deliveries. A POST changes, tests or deletes it, or repeats a delivery."""
    webhook = get_object_or_404(Webhook.objects.exclude(events="").select_related("project"), project=project, pk=pk)
    if request.method != "POST":
        return _show(request, project, webhook)
    if "test" in request.POST:
        return _show(request, project, webhook, result=sending.try_to_send(events.build_test(webhook), events.TEST))
    if "rotate" in request.POST:
        return _show(request, project, webhook, secret=webhooks.rotate(webhook))
    if "delete" in request.POST:
        webhook.delete()
        messages.success(request, "The webhook is deleted, with what waited for it.")
        return HttpResponseRedirect(navigation.page_url(KEY, project))
    if "repeat" in request.POST:
        outbox.repeat(_find_delivery(webhook, request.POST["repeat"]))
        messages.success(request, "It is sent again. Load this page in a moment to see what became of it.")
        return HttpResponseRedirect(request.path)
    form = _build_form(request, webhook)
    if not form.is_valid():
        return _show(request, project, webhook, form=form)
    form.save(webhook, service_url(request))
    messages.success(request, "Saved.")
    return HttpResponseRedirect(request.path)


def _build_form(request: HttpRequest, webhook: Webhook | None) -> WebhookForm:
    initial = {"url": webhook.url, "format": webhook.format, "events": webhook.events.split()} if webhook else {}
    is_saving = request.method == "POST" and "save" in request.POST
    is_superuser = bool(request.user.is_superuser)
    return WebhookForm(request.POST if is_saving else None, initial=initial, is_superuser=is_superuser)


def _show(
    request: HttpRequest,
    project: Project,
    webhook: Webhook,
    *,
    form: WebhookForm | None = None,
    secret: str = "",
    result: tuple[bool, str] | None = None,
) -> HttpResponse:
    form = form or _build_form(request, webhook)
    is_signed = webhook.format == Webhook.Format.STANDARD
    labels = {event_type.name: event_type.label for event_type in events.list_event_types()}
    deliveries = webhook.deliveries.order_by("-pk").prefetch_related("attempts")[:MAX_DELIVERIES]
    context = {
        "webhook": webhook,
        "form": form,
        "secret": secret if is_signed else "",
        "is_signed": is_signed,
        "result": result,
        "deliveries": [(one, labels.get(one.event, one.event), list(one.attempts.all())) for one in deliveries],
        "days": events.DAYS,
        "address": navigation.page_url(KEY, project, webhook.pk, name="edit"),
        "all_webhooks": navigation.page_url(KEY, project),
    }
    return _respond(request, "edit.html", project, "Webhook", context, form)


def _respond(
    request: HttpRequest, template: str, project: Project, title: str, context: dict[str, Any], form: WebhookForm
) -> HttpResponse:
    name = f"admin/workspace/webhooks/{template}"
    return navigation.render(request, name, project, title, context, wrong=form.errors)


def _find_delivery(webhook: Webhook, delivery_id: str) -> Delivery:
    if not re.fullmatch("dlv_[a-z2-7]{20}", delivery_id):
        raise Http404
    return get_object_or_404(webhook.deliveries, delivery_id=delivery_id)


navigation.add_page(
    KEY,
    "Webhooks",
    group="Operation",
    position=91,
    views=[("", show_list, ""), ("<int:pk>", show_webhook, "edit")],
    reads=Role.OWNER,
    acts=Role.OWNER,
)
guard("workspace_webhooks")
guard("workspace_webhooks_edit", when=lambda request: "rotate" in request.POST)
