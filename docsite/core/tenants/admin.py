"""Organizations, projects and keys in the admin. Staff users see only their own organizations."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet, URLField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone
from django.utils.html import format_html_join

from docsite.core.http import ratelimit
from docsite.core.http.errors import TooMany, format_duration
from docsite.core.http.ratelimit import Limit
from docsite.core.tenants import admin_extensions
from docsite.core.tenants.login import LoginForm
from docsite.core.tenants.models import (
    ApiKey,
    Membership,
    Organization,
    Project,
    validate_networks,
)

NEW_KEYS_ORG = Limit("new-keys", "limit_new_keys_org", fail_open=True)

admin.site.login_form = LoginForm
admin.site.site_header = "Documentation service"
admin.site.site_title = "Documentation service"
admin.site.index_title = "Projects, conversations and visitors"


class ProjectFilter(admin.SimpleListFilter):
    """Projects that the user may see, by domain."""

    title = parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Up to fifty of them."""
        own = Project.objects.filter(organization__in=organizations_of(request))
        return [(project.domain, project.name) for project in own[:50]]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """The rows of the chosen project."""
        domain = self.value()
        return queryset.filter(project__domain=domain.replace("\0", "")) if domain else queryset


class ScopedAdmin(admin.ModelAdmin):
    """Shows only rows of the user's organizations. `organization` is the look-up from a row to its organization."""

    organization = "organization"
    addable: ClassVar[bool] = False
    changeable: ClassVar[bool] = False
    deletable: ClassVar[bool] = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """All rows for superusers; for staff, those of their organizations."""
        rows = super().get_queryset(request)
        if request.user.is_superuser:
            return rows
        own = list(organizations_of(request).values_list("pk", flat=True))  # a join would duplicate rows
        return rows.filter(**{f"{self.organization}__in": own})

    def _owns(self, request: HttpRequest, obj: Model | None) -> bool:
        return is_staff(request) and (obj is None or self.get_queryset(request).filter(pk=obj.pk).exists())

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Every staff user sees the app, and their own rows in it."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows."""
        return self._owns(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """If the model allows it."""
        return self.addable and is_staff(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows, if the model allows it."""
        return self.changeable and self._owns(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows, if the model allows it."""
        return self.deletable and self._owns(request, obj)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only the user's organizations."""
        if db_field.name == "organization":
            kwargs["queryset"] = organizations_of(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


def is_staff(request: HttpRequest) -> bool:
    """Whether the request is from an active staff user."""
    return bool(request.user.is_active and request.user.is_staff)


def organizations_of(request: HttpRequest) -> "QuerySet[Organization]":
    """The organizations that the user may see."""
    organizations = Organization.objects.all()
    return organizations if request.user.is_superuser else organizations.filter(memberships__user=request.user.pk)


def project_of(request: HttpRequest, domain: str) -> Project:
    """The project of a domain if the user may see it. Raises 404 otherwise, whether it exists or not."""
    if not is_staff(request):
        raise PermissionDenied
    project = Project.objects.filter(domain=domain, organization__in=organizations_of(request)).first()
    if project is None:
        raise Http404
    return project


class ReadOnlyRows:
    """Mix into an inline: users who see the parent see its rows, and nobody edits them here."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: the service creates the rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: the rows are a record."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Always: users who see this page may see the parent."""
        return True


class MembershipInline(admin.TabularInline):
    """Who belongs to an organization."""

    model = Membership
    extra = 0


@admin.register(Organization)
class OrganizationAdmin(ScopedAdmin):
    """Superusers create organizations and choose their members."""

    organization = "pk__in"
    list_display = ("name", "created_at")
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The user's organizations."""
        return organizations_of(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers."""
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers."""
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers."""
        return request.user.is_superuser


class NewKeyForm(forms.Form):
    """A new key."""

    kind = forms.ChoiceField(choices=ApiKey.Kind.choices, initial=ApiKey.Kind.ASSISTANT)
    name = forms.CharField(max_length=100, required=False, help_text="Helps you to recognize the key.")
    expiry = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Default (admin key: 90 days, assistant key: no expiry)"),
            ("7", "7 days"),
            ("30", "30 days"),
            ("60", "60 days"),
            ("90", "90 days"),
            ("365", "365 days"),
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


class ProjectForm(forms.ModelForm):
    """A project with the settings of the apps, whose fields `ProjectAdmin` declares in a subclass."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for section in admin_extensions.settings():
            row = section.stored(self.instance) or section.model()
            for name in section.names:
                self.initial.setdefault(name, getattr(row, name))

    def clean(self) -> dict[str, Any]:
        """Check the settings as their models would."""
        cleaned = super().clean() or self.cleaned_data
        for section in admin_extensions.settings():
            for field in section.fields:
                if field.name in cleaned:
                    try:
                        field.run_validators(cleaned[field.name])
                    except ValidationError as error:
                        self.add_error(field.name, error)
        return cleaned

    def save_settings(self) -> None:
        """Store the changed settings, those of each app in its own row."""
        for section in admin_extensions.settings():
            if changed := {name: self.cleaned_data[name] for name in section.names if name in self.changed_data}:
                section.save(self.instance, changed)


def _facts() -> list[Any]:
    return [fact.show for fact in admin_extensions.facts()]


@admin.register(Project)
class ProjectAdmin(ScopedAdmin):
    """Projects, each with its API keys page, and with what the apps add to it (`admin_extensions`)."""

    addable = changeable = True
    search_fields = ("domain", "name")
    readonly_fields = ("project_id",)
    fields = ("organization", "domain", "name", "project_id", "docs_url", "allowed_origins", "redact_personal_data")
    view_on_site = False

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """The project, the facts of the apps, the links."""
        return ("domain", "name", "organization", *_facts(), "pages")

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        """Load the related rows of the list in one query."""
        return ["organization", *(fact.relation for fact in admin_extensions.facts())]

    def get_fields(self, request: HttpRequest, obj: Project | None = None) -> tuple[Any, ...]:
        """The project's own fields, the settings of the apps, their facts."""
        settings = (name for section in admin_extensions.settings() for name in section.names)
        return (*self.fields, *settings, *_facts())

    def get_form(self, request: HttpRequest, obj: Project | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Add the settings of the apps to the form."""
        declared = {
            field.name: self.formfield_for_dbfield(field, request)
            for section in admin_extensions.settings()
            for field in section.fields
        }
        form = type("ProjectForm", (ProjectForm,), declared)
        return super().get_form(request, obj, change, **{"form": form, **kwargs})

    def save_model(self, request: HttpRequest, obj: Project, form: ProjectForm, change: bool) -> None:
        """Store the project and the settings of the apps."""
        super().save_model(request, obj, form, change)
        form.save_settings()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers: everything of the project is deleted with it."""
        return request.user.is_superuser

    def get_deleted_objects(
        self, objs: Iterable[Project], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Count in SQL what is deleted with projects. Django would load every row, and block writers meanwhile."""
        projects = list(objs)
        counted = {
            str(relation.field.model._meta.verbose_name_plural): relation.field.model._base_manager.filter(
                **{f"{relation.field.name}__in": projects}
            ).count()
            for relation in Project._meta.related_objects
        }
        counts = [f"{number:,} {name}" for name, number in counted.items() if number]
        return [*map(str, projects), *counts], {"projects": len(projects), **counted}, set(), []

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> tuple[Any, ...]:
        """A project cannot move to another organization, since its keys cannot."""
        readonly = (*self.readonly_fields, *_facts())
        return (*readonly, "organization") if obj else readonly

    formfield_overrides: ClassVar = {URLField: {"assume_scheme": "https"}}

    @admin.display(description="Pages")
    def pages(self, project: Project) -> str:
        """Links to the pages of a project."""
        links = [("API keys", project.get_absolute_url()), *admin_extensions.links_of(project)]
        return format_html_join(" · ", '<a href="{1}">{0}</a>', links)

    def get_urls(self) -> list[Any]:
        """The API keys page; its last segment is the domain."""
        page = self.admin_site.admin_view(self.keys_page)
        return [path("of/<slug:domain>", page, name="projects_keys"), *super().get_urls()]

    def keys_page(self, request: HttpRequest, domain: str) -> HttpResponse:
        """Show project ID, domain and keys; create and revoke keys. Only the response to a creation has the secret."""
        project = project_of(request, domain)
        keys = ApiKey.objects.filter(organization=project.organization).exclude(
            kind=ApiKey.Kind.ASSISTANT, project__in=project.organization.projects.exclude(pk=project.pk)
        )
        if request.method == "POST" and "revoke" in request.POST:
            key_id = request.POST["revoke"]
            key = keys.filter(pk=key_id).first() if re.fullmatch(r"[0-9]{1,18}", key_id) else None
            if key and not key.revoked_at:
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
                self.log_addition(request, project, [{"added": {"name": "API key", "object": str(created)}}])
                form = NewKeyForm()
        now = timezone.now()
        context = {
            **self.admin_site.each_context(request),
            "title": f"API keys of {project.name}",
            "opts": self.opts,
            "project": project,
            "keys": [(key, key.is_live(now)) for key in keys.order_by("revoked_at", "kind", "-created_at")],
            "form": form,
            "keys_left": next((usage.remaining for usage in ratelimit.peek(charge)), None),
            "secret": secret,
            "links": admin_extensions.links_of(project),
            "key_uses": admin_extensions.key_uses(),
            "sample_key": secret if created and created.kind == ApiKey.Kind.ASSISTANT else "svc_dsc_…",
            "base_url": f"{request.scheme}://{request.get_host()}",
        }
        response = TemplateResponse(request, "admin/projects/keys.html", context)
        response.headers["Cache-Control"] = "no-store"
        return response
