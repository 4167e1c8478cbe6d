"""Lists of the admin in which staff users see only the rows of their own organizations."""

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst

from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import has_role_anywhere
from docsite.core.tenants.staff import is_staff, organizations_of, projects_of


class ProjectFilter(admin.SimpleListFilter):
    """Projects that the user may see, by domain."""

    title = parameter_name = "project"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self.value():
            self.template = "admin/workspace/_hidden_filter.html"  # the header shows the project, and others to choose

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Up to fifty of them."""
        return [(project.domain, project.name) for project in projects_of(request)[:50]]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """The rows of the chosen project."""
        domain = self.value()
        if not domain:
            return queryset
        # Its number, not a join: then an index by project and time serves the order of the list.
        project = Project.objects.filter(domain=domain.replace("\0", "")).values_list("pk", flat=True).first()
        return queryset.none() if project is None else queryset.filter(project=project)


class ScopedAdmin(admin.ModelAdmin):
    """Shows only rows of the user's organizations. `organization` is the look-up from a row to its organization.

    `reads` is the least role in an organization that sees its rows, `acts` the least role that changes them.
    """

    organization = "organization"
    reads: ClassVar[Role] = Role.OWNER
    acts: ClassVar[Role] = Role.OWNER
    addable: ClassVar[bool] = False
    changeable: ClassVar[bool] = False
    deletable: ClassVar[bool] = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """All rows for superusers; for staff, those of their organizations."""
        return self._filter_rows(request, super().get_queryset(request), self.reads)

    def _filter_rows(self, request: HttpRequest, rows: QuerySet[Any], role: Role) -> QuerySet[Any]:
        """The rows of the organizations in which the user has at least this role."""
        if request.user.is_superuser:
            return rows
        own = list(organizations_of(request, role).values_list("pk", flat=True))  # a join would duplicate rows
        return rows.filter(**{f"{self.organization}__in": own})

    def get_list_display(self, request: HttpRequest) -> Any:
        """The columns; without the project if the list shows only one."""
        columns = super().get_list_display(request)
        return [name for name in columns if name != "project"] if request.GET.get("project") else columns

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with the name of its rows as its title."""
        if request.method == "POST" and not self._has_role(request, None, self.acts):
            raise PermissionDenied("Your role does not allow this.")
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """The actions, for users who may change rows."""
        return super().get_actions(request) if self._has_role(request, None, self.acts) else {}

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Run an action, on those of the rows that the user may change."""
        return super().response_action(request, self._filter_rows(request, queryset, self.acts))

    def may_change(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Whether the user's role allows to change this row, or any row."""
        return self._has_role(request, obj, self.acts)

    def _has_role(self, request: HttpRequest, obj: Model | None, role: Role) -> bool:
        if not is_staff(request):
            return False
        if obj is None:
            return has_role_anywhere(request, role)
        rows = self.get_queryset(request).filter(pk=obj.pk)
        return self._filter_rows(request, rows, role).exists()

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Every staff user sees the app, and their own rows in it."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows."""
        return self._has_role(request, obj, self.reads)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """If the model allows it."""
        return self.addable and self.may_change(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows, if the model allows it."""
        return self.changeable and self.may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows, if the model allows it."""
        return self.deletable and self.may_change(request, obj)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only organizations and projects to which the user may add rows."""
        if db_field.name == "organization":
            kwargs["queryset"] = organizations_of(request, self.acts)
        elif db_field.name == "project":
            kwargs["queryset"] = projects_of(request, self.acts)
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
