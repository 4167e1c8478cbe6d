"""Organizations, projects and keys in the admin. Staff users see only their own organizations."""

import re
from collections.abc import Iterable
from datetime import UTC
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet, URLField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from docsite.core.http.dates import find_zone
from docsite.core.notifications import digest
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants.models import Membership, Organization, Project, Role
from docsite.core.tenants.staff import organizations_of
from docsite.core.workspace import (
    extensions,
    navigation,
    notifications,  # noqa: F401  # it registers itself, as the next two do
    reader_keys,  # noqa: F401
    webhooks,  # noqa: F401
)
from docsite.core.workspace.fields import OriginsField
from docsite.core.workspace.health import core_facts
from docsite.core.workspace.health.sections import add_section, show_page
from docsite.core.workspace.keys import keys_page
from docsite.core.workspace.people import own_log_in, rules  # noqa: F401  # register themselves
from docsite.core.workspace.people import page as people_page  # noqa: F401  # registers itself
from docsite.core.workspace.scoped_admin import ScopedAdmin

_SETTING = re.compile(r"\b[A-Z]+(?:_[A-Z]+)*_(?:DAYS|SECONDS)")  # the only ones that fields name


class MembershipInline(admin.StackedInline):
    """Who belongs to an organization."""

    model = Membership
    extra = 0


class DeletesEach:
    """Mix into the admin of a model whose `delete` locks rows first: “Delete selected” calls it, all or none."""

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the chosen rows."""
        for row in queryset:
            row.delete()


@admin.register(Organization)
class OrganizationAdmin(DeletesEach, ScopedAdmin):
    """Superusers create organizations and choose their members."""

    organization = "pk"
    reads = Role.VIEWER
    list_display = ("name", "created_at")
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The user's organizations."""
        return organizations_of(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers."""
        return request.user.is_superuser

    has_change_permission = has_delete_permission = has_add_permission


class ProjectForm(forms.ModelForm):
    """A project with the settings of the apps, whose fields `ProjectAdmin` declares in a subclass."""

    allowed_origins = OriginsField(
        help_text="Other sites whose pages may use the widget and the browser endpoints. One address a line."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for section in extensions.settings:
            row = section.model._default_manager.filter(project=self.instance.pk).first() or section.model()
            for name in section.names:
                self.initial.setdefault(name, getattr(row, name))
        for name, field in self.fields.items():  # the value of an operator's setting, before its name
            field.help_text = _SETTING.sub(
                lambda match: f"{getattr(settings.ENV, match[0].lower())} ({match[0]})", str(field.help_text)
            )
            if name.endswith("days"):
                field.help_text += " If you shorten the time, what is older is deleted within a day, for good."

    def clean(self) -> dict[str, Any]:
        """Check the settings as their models would."""
        cleaned = super().clean() or self.cleaned_data
        site = {name: cleaned[name] for name in ("docs_url", "allowed_origins") if name in cleaned}
        for section in extensions.settings:
            own = {name: cleaned[name] for name in section.names if name in cleaned}
            row = section.model(project=Project(**site), **own)
            try:
                row.clean_fields(exclude={field.name for field in row._meta.fields} - own.keys())
                if len(site) == 2:
                    row.clean()
            except ValidationError as error:
                self.add_error(None, error)
        return cleaned

    def save_settings(self) -> None:
        """Store the changed settings, those of each app in its own row."""
        for section in extensions.settings:
            if changed := {name: self.cleaned_data[name] for name in section.names if name in self.changed_data}:
                section.model._default_manager.update_or_create(project_id=self.instance.pk, defaults=changed)


@admin.register(Project)
class ProjectAdmin(DeletesEach, ScopedAdmin):
    """Projects, each with its API keys page, and with the settings of the apps (`extensions`)."""

    addable = changeable = True
    reads = Role.VIEWER
    list_display = ("domain", "name", "organization")
    list_select_related = ("organization",)
    search_fields = ("domain", "name")
    readonly_fields = ("project_id",)
    site_fields = ("organization", "domain", "name", "project_id", "docs_url", "allowed_origins", "time_zone")
    view_on_site = False

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> Any:
        """A link to the settings, which owners see."""
        return super().get_list_display_links(request, list_display) if self.may_change(request) else None

    def get_fieldsets(self, request: HttpRequest, obj: Project | None = None) -> Any:
        """The site; then blocks of settings, each below its heading."""
        blocks: dict[str, list[str]] = {}
        for section in extensions.settings:
            blocks.setdefault(section.heading, []).extend(section.names)
        blocks.setdefault(extensions.PRIVACY, []).insert(0, "redact_personal_data")
        site = ("Documentation site", {"fields": self.site_fields})
        return [site, *((heading, {"fields": names}) for heading, names in blocks.items())]

    def get_form(self, request: HttpRequest, obj: Project | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Add the settings of the apps to the form."""
        declared = {
            field.name: self.formfield_for_dbfield(field, request)
            for section in extensions.settings
            for field in section.fields
        }
        form = type("ProjectForm", (ProjectForm,), declared)
        return super().get_form(request, obj, change, **{"form": form, **kwargs})

    def save_model(self, request: HttpRequest, obj: Project, form: ProjectForm, change: bool) -> None:
        """Store the project and the settings of the apps."""
        super().save_model(request, obj, form, change)
        if change and "time_zone" in form.changed_data:
            digest.follow(obj, find_zone(form.initial["time_zone"]) or UTC, timezone.now())
        form.save_settings()

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Members see the list, owners see the settings."""
        return super().has_view_permission(request, obj) and (obj is None or self.may_change(request, obj))

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
        return (*self.readonly_fields, "organization") if obj else self.readonly_fields

    formfield_overrides: ClassVar = {URLField: {"assume_scheme": "https", "widget": AdminTextInputWidget}}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The settings, titled like the other pages of a project."""
        # Browsers keep a fragment of the address over a redirect, and the confirmation stands at the top.
        return super().change_view(request, object_id, request.path, {"title": "Settings", "subtitle": None})

    def response_post_save_change(self, request: HttpRequest, obj: Project) -> HttpResponseRedirect:
        """Stay on the page."""
        return HttpResponseRedirect(request.path)


navigation.add_address("projects/project/of/<str:domain>", keys_page, "projects_keys")
navigation.add_page(
    "keys",
    "API keys",
    group="Access",
    position=80,
    url=lambda project: project.get_absolute_url(),
    names=["projects_keys"],
)
navigation.add_page(
    "limits",
    "Limits and health",
    group="Operation",
    position=93,
    views=[("", show_page, "")],
    reads=Role.WRITER,
)
guard("projects_keys", "auth_user_password_change")
for model in ("auth_user", "auth_group", "projects_organization"):  # an organization is shown with its members
    guard(*(f"{model}_{part}" for part in ("changelist", "add", "change", "delete")))
add_section("Limits", core_facts.list_limits, position=10)
add_section("Refused requests", core_facts.list_refusals, position=15)
add_section("Service", core_facts.list_database, position=90)
navigation.add_page(
    "settings",
    "Settings",
    group="Set-up",
    position=73,
    url=lambda project: reverse("admin:projects_project_change", args=[project.pk]),
)
