"""Lists of the admin in which staff users see only the rows of their own organizations."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from docsite.core.tenants.staff import is_staff, organizations_of, projects_of


class ProjectFilter(admin.SimpleListFilter):
    """Projects that the user may see, by domain."""

    title = parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Up to fifty of them."""
        return [(project.domain, project.name) for project in projects_of(request)[:50]]

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
