"""The audit in the admin, read-only, and the page that erases data of readers."""

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse

from docsite.core.components.erasure import CONVERSATION, EVERYTHING, READER, READER_OF, VISITOR, WRITER, NotErasable
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import navigation
from docsite.core.workspace.scoped_admin import ScopedAdmin
from docsite.privacy import audit_page, erasure
from docsite.privacy.models import AuditEntry

WHOSE = (
    (READER, "All conversations of a reader"),
    (CONVERSATION, "One conversation"),
    (READER_OF, "All conversations of the reader of one conversation"),
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
        help_text="The fp of the reader, the id of the conversation, the e-mail address of the support requests, "
        "or the network address of the visitor.",
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
    confirm = forms.BooleanField(label="Erase it forever")

    def __init__(self, *args: Any, may_erase_everything: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        whose = self.fields["whose"]
        assert isinstance(whose, forms.ChoiceField)
        if not may_erase_everything:
            whose.choices = [choice for choice in WHOSE if choice[0] != EVERYTHING]


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

    def get_urls(self) -> list[Any]:
        """The page that erases data of a project."""
        page = self.admin_site.admin_view(self.erase_page)
        return [path("erase/<str:domain>", page, name="privacy_erase"), *super().get_urls()]

    def erase_page(self, request: HttpRequest, domain: str) -> HttpResponse:
        """Erase data, and show the receipt. Other pages link to it with the form filled in.

        Only superusers erase everything, as only they delete projects.
        """
        project = project_of(request, domain)
        may_erase_everything = request.user.is_superuser
        named = {name: request.GET[name] for name in ("whose", "identifier") if name in request.GET}
        form = EraseForm(request.POST or None, initial=named, may_erase_everything=may_erase_everything)
        receipt = None
        if request.method == "POST" and form.is_valid():
            subject = {field: form.cleaned_data[field] for field in form.cleaned_data if field != "confirm"}
            try:
                receipt = erasure.erase(project, **subject)
                form = EraseForm(may_erase_everything=may_erase_everything)
            except NotErasable as refusal:
                form.add_error(None, str(refusal))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Erase data of {project.name}",
            "opts": self.opts,
            "project": project,
            "form": form,
            "receipt": receipt,
        }
        return TemplateResponse(request, "admin/privacy/erase.html", context)


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
