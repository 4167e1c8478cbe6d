"""The audit in the admin, read-only, and the page that erases data of readers."""

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from docsite.core.components.erasure import CONVERSATION, EVERYTHING, READER, VISITOR, WRITER, NotErasable
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import navigation
from docsite.core.workspace.scoped_admin import ScopedAdmin
from docsite.privacy import audit_page, erasure
from docsite.privacy.models import AuditEntry

WHOSE = (
    (READER, "All conversations of a reader"),
    (CONVERSATION, "One conversation"),
    (WRITER, "All support requests of an e-mail address"),
    (VISITOR, "Page views and searches of a visitor"),
    (EVERYTHING, "Everything that all readers left, and all counts"),
)


class EraseForm(forms.Form):
    """Whose data to erase."""

    whose = forms.ChoiceField(label="Erase", choices=WHOSE)
    identifier = forms.CharField(
        label="Whose",
        required=False,
        max_length=256,
        help_text="The fp of a reader or the id of one of their conversations, the id of the conversation, the e-mail "
        "address of the support requests, or the network address of the visitor.",
    )
    user_agent = forms.CharField(
        required=False, max_length=1000, help_text="The visitor's browser sends it as User-Agent."
    )
    reader_id = forms.CharField(
        label="First-party id",
        required=False,
        max_length=100,
        help_text="The visitor's first-party id, if the project uses them.",
    )

    def __init__(self, *args: Any, may_erase_everything: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_erase_everything:
            others = [choice for choice in WHOSE if choice[0] != EVERYTHING]
            self.fields["whose"].choices = others  # type: ignore[attr-defined]


@admin.register(AuditEntry)
class AuditAdmin(ScopedAdmin):
    """Who changed keys, settings and roles, and who erased data. Superusers see the entries about users, too."""

    organization = "organization_id"
    list_display = ("at", "actor", "network", "action", "object", "project", "values")
    list_filter = ("at", "action")
    search_fields = ("actor", "object", "project")
    show_full_result_count = False

    @admin.display(description="Values")
    def values(self, entry: AuditEntry) -> str:
        """The new values, or the numbers of erased rows."""
        return ", ".join(f"{name}: {json.dumps(value)}" for name, value in entry.details.items())


def erase_page(request: HttpRequest, domain: str) -> HttpResponse:
    """Show how much an erasure would take. With `confirm`, erase it and show the receipt.

    Other pages link or post to it with the form filled in. Only superusers erase everything, as only they delete
    projects.
    """
    project = project_of(request, domain)
    may_erase_everything = request.user.is_superuser
    form = EraseForm(request.POST or request.GET or None, may_erase_everything=may_erase_everything)
    receipt = found = subject = None
    if form.is_valid():
        try:
            if "confirm" in request.POST:
                receipt = erasure.erase(project, **form.cleaned_data)
                form = EraseForm(may_erase_everything=may_erase_everything)
            else:
                subject = erasure.find_subject(project, **form.cleaned_data)
                found = erasure.count(subject)
        except NotErasable as refusal:
            form.add_error(None, str(refusal))
    found_any = not found or any(found.values())
    context = {"form": form, "receipt": receipt, "subject": subject, "found": found, "found_any": found_any}
    title = f"Erase data of {project.name}"
    return navigation.render(request, "admin/privacy/erase.html", project, title, context)


navigation.add_address("privacy/auditentry/erase/<str:domain>", erase_page, "privacy_erase")
navigation.add_page(
    audit_page.KEY,
    "Audit",
    group="Operation",
    position=94,
    views=[("", audit_page.show_audit, ""), ("file.<slug:form>", audit_page.send_audit, "file")],
)
navigation.add_page(
    "erase",
    "Erase data",
    group="Operation",
    position=95,
    url=lambda project: reverse("admin:privacy_erase", args=[project.domain]),
    names=["privacy_erase"],
)
