"""The API keys page of a project: project ID, domain and keys; create and revoke keys."""

from datetime import datetime, timedelta

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from docsite.core.base_path import service_url
from docsite.core.http import ratelimit
from docsite.core.http.errors import TooMany, format_duration
from docsite.core.http.ratelimit import Limit
from docsite.core.tenants.models import ApiKey, Project
from docsite.core.tenants.staff import project_of
from docsite.core.tenants.validators import validate_networks
from docsite.core.workspace import extensions, navigation
from docsite.core.workspace.posted_rows import find_posted_row

NEW_KEYS_ORG = Limit(
    "new-keys", "10/h", "Keys that an organization may create in the admin", fail_open=True, by_organization=True
)


class NewKeyForm(forms.Form):
    """A new key."""

    kind = forms.ChoiceField(choices=ApiKey.Kind.choices, initial=ApiKey.Kind.ASSISTANT)
    name = forms.CharField(max_length=100, required=False, help_text="Helps you to recognize the key.")
    expiry = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Default (admin key: 90 days, other keys: no expiry)"),
            *((str(days), f"{days} days") for days in (7, 30, 60, 90, 365)),
            ("none", "No expiry"),
        ],
    )
    scopes = forms.MultipleChoiceField(
        choices=[("read", "read"), ("write", "write")],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="For admin keys only. If you choose none, the key has all.",
    )
    networks = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Addresses from which the key may be used, as CIDR ranges, one a line. Empty: all.",
    )

    def clean_networks(self) -> list[str]:
        """The ranges as a list."""
        networks = str(self.cleaned_data["networks"]).split()
        validate_networks(networks)
        return networks

    def expires_at(self) -> datetime | None:
        """When the key expires; None for never."""
        chosen = self.cleaned_data["expiry"] or ("90" if self.cleaned_data["kind"] == ApiKey.Kind.ADMIN else "none")
        return None if chosen == "none" else timezone.now() + timedelta(days=int(chosen))


def find_public_token(project: Project, now: datetime) -> str:
    """The token of the project's newest assistant key that is valid and readable; empty if there is none."""
    keys = project.keys.exclude(public_token="").order_by("-created_at")
    return next((key.public_token for key in keys if key.is_live(now)), "")


def keys_page(request: HttpRequest, domain: str) -> HttpResponse:
    """Show project ID, domain and keys; create and revoke keys. A secret key is shown once."""
    project = project_of(request, domain)
    others = project.organization.projects.exclude(pk=project.pk)
    keys = ApiKey.objects.filter(organization=project.organization).exclude(project__in=others)
    if request.method == "POST" and "revoke" in request.POST:
        key = find_posted_row(keys, request.POST["revoke"])
        if request.POST.get("word", "").strip() != "revoke":
            messages.error(request, "No key was revoked. Type “revoke” in the field beside the button first.")
        elif key and not key.revoked_at:
            key.revoke()
            messages.success(request, f"Key {key} is revoked.")
        return HttpResponseRedirect(request.path)
    charge = (NEW_KEYS_ORG, str(project.organization_id))
    form = NewKeyForm(request.POST or None)
    secret, created = "", None
    if request.method == "POST" and form.is_valid():
        try:
            ratelimit.spend(charge)  # counted first, so that two requests at once cannot both be the last one
        except TooMany as refusal:
            wait = format_duration(int(refusal.headers["Retry-After"]))
            form.add_error(None, f"The limit of new keys is reached. Try again in {wait}.")
        else:
            created, secret = ApiKey.issue(
                ApiKey.Kind(form.cleaned_data["kind"]),
                project.organization,
                project,
                name=form.cleaned_data["name"],
                expires_at=form.expires_at(),
                scopes=form.cleaned_data["scopes"] if form.cleaned_data["kind"] == ApiKey.Kind.ADMIN else [],
                networks=form.cleaned_data["networks"],
            )
            form = NewKeyForm()
    now = timezone.now()
    context = {
        "opts": Project._meta,
        "keys": [(key, key.is_live(now)) for key in keys.order_by("revoked_at", "kind", "-created_at")],
        "form": form,
        "keys_left": next((usage.remaining for usage in ratelimit.peek(charge)), None),
        "secret": secret if created and not created.public_token else "",
        "created": created,
        "key_uses": extensions.key_uses,
        "sample_key": find_public_token(project, now) or "svc_dsc_…",
        "base_url": service_url(request),
    }
    return navigation.render(request, "admin/projects/keys.html", project, f"API keys of {project.name}", context)
