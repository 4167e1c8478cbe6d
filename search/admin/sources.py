"""Stored sources in the admin: their locations, the age of their pages, and a button to read them again."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Case, Count, Model, OuterRef, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince, timeuntil

from docsite.core.network.private_hosts import PrivateHosts
from docsite.core.tenants.models import Role
from docsite.core.tenants.staff import projects_of
from docsite.core.unicode.addresses import urlsplit
from docsite.core.unicode.template_filters import truncatechars
from docsite.core.workspace import navigation
from docsite.core.workspace.scoped_admin import ProjectFilter, ScopedAdmin
from search.indexing import report
from search.indexing.ingest import apply_groups
from search.models import Document, Redirect, Source
from search.sources import generators
from search.stored_sources import queue, runs

ACTIVE = (Source.State.QUEUED, Source.State.RUNNING)


class SourceForm(forms.ModelForm):
    """A source. Only superusers may have the server read its own files, and hosts that are not public."""

    is_superuser = False
    generator = forms.ChoiceField(
        required=False,
        choices=[("", "Detect from the files"), *((name, name) for name in generators.NAMES)],
        help_text="What renders the site: it decides how addresses and anchors are made.",
    )

    class Meta:
        model = Source
        fields = ("location", "generator", "under")  # checked here; the admin lists all fields

    def clean_location(self) -> str:
        """An address; superusers may also name a path of the server and hosts of its network."""
        location = str(self.cleaned_data["location"])
        if location == self.instance.location:
            return location  # unchanged: a user with the right to do so entered it
        return clean_location(location, is_superuser=self.is_superuser)


def clean_location(location: str, *, is_superuser: bool) -> str:
    """A location that the user may have read, with an absolute path. Raises ValidationError for any other."""
    try:
        address = urlsplit(location)
    except ValueError:
        raise ValidationError("This is not an address.") from None
    if address.scheme in ("http", "https"):
        if not address.hostname or address.username is not None:
            raise ValidationError("Write an address with its host, and without a user name.")
        if PrivateHosts(settings.ENV.crawl_private_hosts).includes_site(address.hostname) and not is_superuser:
            raise ValidationError("This host is not public. Only superusers may add it.")
        return location
    if not is_superuser:
        raise ValidationError("Write an address that begins with https://.")
    place = Path(location)
    if not place.is_absolute() or not place.exists():
        raise ValidationError(
            "This is neither an address that begins with https:// nor the absolute path of a folder or file here."
        )
    return str(place.resolve())


@admin.register(Source)
class SourceAdmin(ScopedAdmin):
    """The sources of the user's projects, with the outcome of the last run of each."""

    organization = "project__organization"
    addable = changeable = deletable = True
    reads, acts = Role.VIEWER, Role.WRITER
    form = SourceForm
    fields = ("project", "name", "location", "schedule", "generator", "under", "version", "language", "groups")
    list_display = (
        *("title", "short_location", "state_badge", "pages", "freshness"),
        *("next_time", "short_error", "project", "schedule"),
    )
    list_filter = (ProjectFilter, "state")
    list_select_related = ("project",)
    search_fields = ("name", "location")
    actions = ("read_chosen",)
    change_form_template = "admin/search/source/change_form.html"

    class Media:
        css = {"all": ("admin/reports.css", "admin/sources.css")}  # noqa: RUF012  # as Django reads it
        js = (forms.Script("admin/sources.js", defer=True),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Sources with the number of their pages."""
        pages = Document.objects.filter(project=OuterRef("project")).order_by().values("project")
        own, unnamed = (
            Coalesce(Subquery(found.annotate(number=Count("pk")).values("number")), 0)
            for found in (pages.filter(source=OuterRef("pk")), pages.filter(source=None))
        )
        counted = Case(When(by_command=True, then=unnamed), default=own)
        sources: QuerySet[Any] = super().get_queryset(request).annotate(page_count=counted)
        return sources

    @admin.display(description="Name", ordering="name")
    def title(self, source: Source) -> str:
        """Its name, or that a command has read it."""
        return source.name or "Read by command"

    @admin.display(description="Location")
    def short_location(self, source: Source) -> str:
        """Short enough for a list, with the generator. A pushed source has none."""
        shown = "Pushed" if source.is_pushed else truncatechars(source.location or "not known", 60)
        generator = source.outcome.get("generator", source.generator)
        return format_html(
            '<span title="{}">{}</span>{}',
            source.location,
            shown,
            format_html("<br>{}", generator) if generator else "",
        )

    @admin.display(description="State", ordering="state")
    def state_badge(self, source: Source) -> str:
        """The state in words and by colour."""
        return format_html('<span class="badge {}">{}</span>', source.state, source.get_state_display())

    @admin.display(description="Pages", ordering="page_count")
    def pages(self, source: Source) -> int:
        """The number of its pages in the index."""
        return int(getattr(source, "page_count", 0))

    @admin.display(description="Last read", ordering="read_at")
    def freshness(self, source: Source) -> str:
        """How old the pages are."""
        return format_age(source.read_at)

    @admin.display(description="Next", ordering="due_at")
    def next_time(self, source: Source) -> str:
        """When it is read again."""
        return _format_wait(source.due_at)

    @admin.display(description="Last error")
    def short_error(self, source: Source) -> str:
        """The beginning of the last error."""
        return truncatechars(source.error, 60) or "–"

    def get_form(self, request: HttpRequest, obj: Source | None = None, change: bool = False, **kwargs: Any) -> Any:
        """A form that knows whether a superuser fills it in."""
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"is_superuser": request.user.is_superuser})

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> tuple[str, ...]:
        """A stored source keeps its project, and its name, by which commands find it."""
        if obj and obj.is_pushed:
            return ("project", "name", "generator", "under", "version", "language")
        if obj and obj.by_command:
            return ("project", "location", "under", "version", "language", "groups")
        return ("project", "name") if obj else ()

    def get_fields(self, request: HttpRequest, obj: Source | None = None) -> tuple[str, ...]:
        """Of what a command has read, and of what was pushed: only what is known."""
        return self.fields if obj is None or obj.can_be_read else self.get_readonly_fields(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Own rows that the service can read."""
        return super().has_change_permission(request, obj) and (not isinstance(obj, Source) or obj.can_be_read)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The project, if the user has just one."""
        projects = list(projects_of(request, self.acts)[:2])
        initial = {"project": projects[0].pk} if len(projects) == 1 else {}
        return {**initial, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Source, form: Any, change: bool) -> None:
        """Store the source, and enqueue it if the change may bring other pages."""
        if change:  # only the changed fields: a run may store its progress at this moment
            obj.save(update_fields=form.changed_data)
        else:
            obj.save()
        if change and "groups" in form.changed_data:
            apply_groups(obj.project)  # before its next run, which may be late or fail
        if set(form.changed_data) - {"schedule"}:
            queue.enqueue(obj)
        elif form.changed_data:
            queue.reschedule(obj)

    def response_post_save_add(self, request: HttpRequest, obj: Source) -> HttpResponseRedirect:
        """Go to its page, which shows the progress of the run."""
        return HttpResponseRedirect(reverse("admin:search_source_change", args=[obj.pk]))

    def get_urls(self) -> list[Any]:
        """The URLs of the button, and of the state that the page polls during a run."""
        state, again = map(self.admin_site.admin_view, (self.state_view, self.read_view))
        return [
            path("<path:object_id>/state", state, name="search_source_state"),
            path("<path:object_id>/read", again, name="search_source_read"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The form, below the state of the source."""
        source = self.get_object(request, unquote(object_id))
        state = describe_state(source) if source and self.has_view_permission(request, source) else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **state})

    def state_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The state of the source as JSON: `isActive`, the `state` in words, and `html` for the page."""
        state = describe_state(self._get_or_404(request, object_id))
        html = render_to_string("admin/search/source/_state.html", state, request)
        return JsonResponse({"isActive": state["is_active"], "state": state["line"], "html": html})

    def read_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Enqueue the source, and go back to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        source = self._get_or_404(request, object_id)
        if not self.may_change(request, source):
            raise PermissionDenied("Your role does not allow this.")
        if not source.can_be_read:
            return HttpResponseNotAllowed(())
        queue.enqueue(source)
        self.log_change(request, source, "Read again.")
        return HttpResponseRedirect(reverse("admin:search_source_change", args=[source.pk]))

    @admin.action(description="Read the selected sources again now", permissions=["change"])
    def read_chosen(self, request: HttpRequest, queryset: "QuerySet[Source]") -> None:
        """Enqueue each source."""
        for source in queryset.filter(by_command=False, is_pushed=False):
            queue.enqueue(source)
            self.log_change(request, source, "Read again.")
        messages.success(request, "The sources wait to be read. Reload this page to see their progress.")

    def get_deleted_objects(
        self, objs: Iterable[Source], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """What is deleted with sources: their pages, which leave the index, and their redirects."""
        sources = list(objs)
        pages = {source: Document.objects.filter(source.owns).count() for source in sources}
        redirects = sum(Redirect.objects.filter(source.owns).count() for source in sources)
        lines = [f"{source}: {number:,} pages leave the index" for source, number in pages.items()]
        counted = {"sources": len(sources), "pages": sum(pages.values()), "redirects": redirects}
        return lines, counted, set(), []

    def delete_model(self, request: HttpRequest, obj: Source) -> None:
        """Delete the source with its pages."""
        runs.remove(obj)

    def delete_queryset(self, request: HttpRequest, queryset: "QuerySet[Source]") -> None:
        """Delete each source with its pages."""
        for source in queryset.select_related("project"):
            runs.remove(source)

    def _get_or_404(self, request: HttpRequest, object_id: str) -> Source:
        source: Source | None = self.get_object(request, unquote(object_id))
        if source is None:
            raise Http404
        return source


def describe_state(source: Source) -> dict[str, Any]:
    """The template context of `admin/search/source/_state.html`."""
    is_silent = source.state == Source.State.RUNNING and not source.is_held
    line = "The process that read it stopped responding" if is_silent else source.get_state_display()
    return {
        "source": source,
        "is_active": source.state in ACTIVE,
        "line": line,
        "pages": Document.objects.filter(source.owns).count(),
        "generator": source.outcome.get("generator")
        or source.generator
        or ("not detected" if source.is_pushed else "none: its pages are fetched"),
        "freshness": format_age(source.read_at),
        "next_time": _format_wait(source.due_at),
        "report_lines": report.describe(source.outcome.get("report", {})),
        "more_skipped": source.outcome.get("skippedCount", 0) - len(source.outcome.get("skipped", [])),
        "more_left_out": source.outcome.get("leftOutCount", 0) - len(source.outcome.get("leftOut", [])),
    }


def format_age(at: datetime | None) -> str:
    """How long ago something was, in words."""
    if at is None:
        return "never"
    age = timesince(at, depth=1)
    return "just now" if age.startswith("0") else f"{age} ago"


def _format_wait(at: datetime | None) -> str:
    if at is None:
        return "–"
    wait = timeuntil(at, depth=1)
    return "now" if at <= timezone.now() or wait.startswith("0") else f"in {wait}"


navigation.add_page(
    "sources",
    "Sources",
    group="Content",
    position=61,
    url=navigation.list_url("search_source"),
    reads=SourceAdmin.reads,
)
navigation.add_page(
    "documents",
    "Pages",
    group="Content",
    position=62,
    url=navigation.list_url("search_document"),
    reads=Role.VIEWER,
)
