"""The forms of the wizard."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest

from assistant.models import WidgetSettings
from docsite.core.tenants.models import ApiKey, Organization, Project, Role
from docsite.core.tenants.staff import organizations_of
from docsite.core.tenants.validators import validate_docs_url
from docsite.core.unicode.addresses import urlsplit
from docsite.core.workspace.fields import OriginsField
from docsite.setup.drafts import Draft, propose_domain
from search.admin.sources import clean_location
from search.models import Source
from search.sources import generators
from search.stored_sources import queue

SOURCE_NAME = "docs"


class LocationForm(forms.Form):
    """Where the documentation is."""

    location = forms.CharField(
        max_length=1000,
        label="Address",
        widget=forms.TextInput(attrs={"class": "vLargeTextField", "spellcheck": "false", "autofocus": True}),
    )

    def __init__(self, *args: Any, is_superuser: bool) -> None:
        super().__init__(*args)
        self.is_superuser = is_superuser
        self.fields["location"].help_text = (
            "Of the published site, which is best, its sitemap, an llms.txt or an OpenAPI document."
            + (
                " Or the path of a folder, such as that of the built site, an archive or a file on this server."
                if is_superuser
                else ""
            )
        )

    def clean_location(self) -> str:
        """An address, or a path if the user is a superuser. A host alone gets `https://`."""
        location = str(self.cleaned_data["location"])
        looks_like_host = "." in location.partition("/")[0] and "://" not in location and location[0] not in "/.~"
        return clean_location(f"https://{location}" if looks_like_host else location, is_superuser=self.is_superuser)


class CorrectionForm(forms.Form):
    """What was detected, to be corrected."""

    generator = forms.ChoiceField(
        required=False,
        choices=[("", "As detected"), *((name, name) for name in generators.NAMES)],
        help_text="What renders the site: it decides how addresses and anchors are made.",
    )
    docs_url = forms.URLField(
        label="Base address",
        max_length=200,
        assume_scheme="https",
        validators=[validate_docs_url],
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false"}),  # a url field wants https://
        help_text="Where the documentation is published. The addresses of its pages begin with it.",
    )
    language = forms.CharField(
        required=False, max_length=35, help_text="Of pages that name none, such as en. May be empty."
    )

    def __init__(self, draft: Draft, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(draft, name) for name in ("generator", "docs_url", "language")})
        if urlsplit(draft.location).scheme in ("http", "https") and draft.found.get("generator") != "OpenAPI":
            del self.fields["generator"]  # the pages of a site are read as they are


class NewProjectForm(forms.ModelForm):
    """Name, domain, organization and origins of the project."""

    new_organization = forms.CharField(
        required=False, max_length=200, help_text="The name of an organization that does not exist yet."
    )
    allowed_origins = OriginsField(label="Other origins")

    class Meta:
        model = Project
        fields = ("name", "domain", "organization", "new_organization", "allowed_origins")

    def __init__(self, request: HttpRequest, draft: Draft, data: Any = None) -> None:
        newest = F("projects__created_at").desc(nulls_last=True)  # an organization may have no project
        latest = organizations_of(request, Role.OWNER).order_by(newest, "pk").first()
        host = urlsplit(draft.docs_url).hostname or ""
        initial: dict[str, Any] = {
            "name": str(draft.found.get("name") or host)[:200],
            "domain": propose_domain(draft.docs_url),
            "organization": latest and latest.pk,
        }
        super().__init__(data, initial=initial)
        self.draft = draft
        self.instance.docs_url = draft.docs_url
        organization = self.fields["organization"]
        assert isinstance(organization, forms.ModelChoiceField)
        organization.queryset = organizations_of(request, Role.OWNER)
        if request.user.is_superuser:
            organization.required = False
        else:
            del self.fields["new_organization"]
        self.fields["allowed_origins"].help_text = (
            "Other sites whose pages show the widget, one address a line, such as a local preview. The site itself "
            "is always included."
        )

    def clean(self) -> dict[str, Any]:
        """Find or create the organization."""
        cleaned = super().clean() or self.cleaned_data
        name = cleaned.get("new_organization", "")
        if name and Organization.objects.filter(name=name).exists():
            self.add_error("new_organization", "There is an organization of that name. Choose it above.")
        elif name:
            cleaned["organization"] = Organization(name=name)
        elif "organization" in self.fields and not cleaned.get("organization") and "organization" not in self.errors:
            self.add_error("organization", "Choose an organization.")
        return cleaned

    def _post_clean(self) -> None:
        """Check the project. An organization that does not exist yet is stored with it."""
        organization = self.cleaned_data.get("organization")
        if organization is not None and organization.pk is None:
            self.cleaned_data["organization"] = None
            super()._post_clean()  # type: ignore[misc]  # not in the stubs
            self.cleaned_data["organization"] = organization
        else:
            super()._post_clean()  # type: ignore[misc]

    def create(self) -> Project:
        """Store the project with an assistant key and its source, which waits to be read."""
        project: Project = self.instance
        with transaction.atomic():
            if self.cleaned_data["organization"].pk is None:
                self.cleaned_data["organization"].save()
            project.organization = self.cleaned_data["organization"]
            project.save()
            WidgetSettings.objects.create(project=project, labels={"name": f"Ask {project.name}"})
            ApiKey.issue(ApiKey.Kind.ASSISTANT, project.organization, project, name="First assistant key")
            source = Source(
                project=project,
                name=SOURCE_NAME,
                location=self.draft.location,
                generator=self.draft.generator,
                language=self.draft.language,
            )
            try:
                source.full_clean()
            except ValidationError as error:
                raise ValueError(" ".join(error.messages)) from None
            source.save()
        queue.enqueue(source)
        return project
