"""The page that says where support requests go: e-mail addresses, a webhook with its secret, and a test."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from assistant.admin.support_requests import list_page
from assistant.models import SupportSettings
from assistant.models.support_requests import MAX_EMAILS, validate_emails
from assistant.support_requests import notifications
from docsite.core.base_path import service_url
from docsite.core.delivery import mail, sending, webhooks
from docsite.core.delivery.messages import Message, WebhookCall
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import origin_of
from docsite.core.unicode.addresses import urlsplit
from docsite.core.workspace import navigation


class SupportSettingsForm(forms.Form):
    """Where requests go."""

    emails = forms.CharField(
        label="E-mail addresses",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "placeholder": "support@example.com"}),
        help_text=f"One a line, at most {MAX_EMAILS}. Your answer to such an e-mail goes to the reader.",
    )
    webhook_url = forms.CharField(
        label="Webhook",
        required=False,
        max_length=webhooks.MAX_URL,
        help_text="An https address that gets each request as a signed POST. Its secret is shown once.",
        widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": "https://help.example.com/hooks/docs"}),
    )
    service_url = forms.CharField(
        label="Address of this service",
        max_length=200,
        help_text="Where readers reach this service. The form without JavaScript is below it, at /support/.",
    )

    def __init__(self, *args: Any, is_superuser: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_superuser = is_superuser

    def clean_emails(self) -> list[str]:
        """The addresses, each once."""
        addresses = list(dict.fromkeys(self.cleaned_data["emails"].replace(",", " ").split()))
        validate_emails(addresses)
        return addresses

    def clean_webhook_url(self) -> str:
        """The address."""
        url: str = self.cleaned_data["webhook_url"]
        if url:
            webhooks.check_target(url, is_superuser=self.is_superuser)
        return url

    def clean_service_url(self) -> str:
        """The origin."""
        try:
            url: str = self.cleaned_data["service_url"]
            return origin_of(url) + urlsplit(url.strip()).path.rstrip("/")
        except ValueError:
            raise ValidationError("Write an address such as https://docs-service.example.com.") from None


def show_settings(request: HttpRequest, project: Project) -> HttpResponse:
    """Show and save the settings, make a new secret, or send a test."""
    stored = SupportSettings.for_project(project)
    secret, results = "", []
    is_saving = request.method == "POST" and "save" in request.POST
    form = SupportSettingsForm(
        request.POST if is_saving else None,
        initial={
            "emails": "\n".join(stored.emails),
            "webhook_url": stored.webhook.url if stored.webhook else "",
            "service_url": stored.service_url or service_url(request),
        },
        is_superuser=bool(request.user.is_superuser),
    )
    if is_saving and form.is_valid():
        stored, secret = _save(project, form.cleaned_data)
        messages.success(request, "Saved. Readers see the form." if stored.is_on else "Saved. Readers see no form.")
        if not secret:
            return HttpResponseRedirect(request.path)
    elif "rotate" in request.POST and stored.webhook:
        secret = webhooks.rotate(stored.webhook)
    elif "test" in request.POST:
        results = _send_test(project, stored)
    context = {
        "form": form,
        "settings": stored,
        "secret": secret,
        "results": results,
        "has_mail_server": mail.is_configured(),
        "all_requests": navigation.page_url(list_page.KEY, project),
    }
    title = "Support requests: settings"
    return navigation.render(
        request, "admin/assistant/support_requests/settings.html", project, title, context, wrong=form.errors
    )


def _save(project: Project, values: dict[str, Any]) -> tuple[SupportSettings, str]:
    """Store the settings. Returns them with the secret of a new webhook."""
    secret = ""
    with transaction.atomic():
        row = SupportSettings.objects.select_related("webhook").get_or_create(project=project)[0]
        row.emails, row.service_url = values["emails"], values["service_url"]
        removed = row.webhook if row.webhook and not values["webhook_url"] else None
        if values["webhook_url"]:
            row.webhook, secret = webhooks.store(project, row.webhook, values["webhook_url"])
        elif removed:
            row.webhook = None
        row.save()
        if removed:
            removed.delete()
    return row, secret


def _send_test(project: Project, stored: SupportSettings) -> list[tuple[bool, str]]:
    """Send a test at once by each channel. Returns whether each succeeded, with a sentence."""
    letter, data = notifications.build_test(project, stored)
    tests: list[Message] = [letter] if stored.emails and mail.is_configured() else []
    if stored.webhook:
        tests.append(WebhookCall(stored.webhook, data))
    return [sending.try_to_send(message, "support_request.test") for message in tests]
