"""Feedback in the admin: read it, and change its status."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from analytics.admin import feedback_detail, triage
from analytics.models import Feedback
from docsite.core.tenants.models import Role
from docsite.core.workspace import navigation
from docsite.core.workspace.date_filter import DateFilter
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.scoped_admin import ProjectFilter, ScopedAdmin

MAX_EXCERPT_LENGTH = 160


def _build_action(status: Feedback.Status) -> Any:
    """An admin action that gives this status to the selected feedback."""

    @admin.action(description=f"Mark as {status.label.lower()}")
    def mark(modeladmin: "FeedbackAdmin", request: HttpRequest, queryset: "QuerySet[Feedback]") -> None:
        number = queryset.update(status=status)
        messages.success(request, f"{number} marked as {status.label.lower()}.")

    mark.__name__ = f"mark_{status}"
    return mark


@admin.register(Feedback)
class FeedbackAdmin(ScopedAdmin):
    """Feedback, latest first. Only its status can be changed."""

    organization = "project__organization"
    changeable = deletable = True
    reads, acts = Role.VIEWER, Role.WRITER
    list_display = ("created", "excerpt", "thumb", "status", "page", "source", "project")
    list_display_links = ("created", "excerpt")
    list_filter = (ProjectFilter, ("created_at", DateFilter), "status", "source", "helpful")
    list_select_related = ("project",)
    search_fields = ("comment", "path", "contact")
    show_full_result_count = False
    actions = tuple(_build_action(status) for status in Feedback.Status)
    _main = ("created", "source", "project", "page", "thumb", "reason", "comment", "contact")
    _code = ("filename", "lang", "code_block")
    fields = ("status", *_main, *_code, "answer")
    readonly_fields = (*_main, *_code, "answer")

    class Media:
        """Styles of the list and of code."""

        css: ClassVar = {"all": ("admin/reports.css",)}

    def get_fields(self, request: HttpRequest, obj: Feedback | None = None) -> tuple[str, ...]:
        """The fields; those of code and answer only if the feedback is about code or an answer."""
        left_out = (*(() if obj and obj.code else self._code), *(() if obj and obj.message_id else ("answer",)))
        return tuple(name for name in self.fields if name not in left_out)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Latest first, where an index by project and time serves it; to a superuser, all feedback by arrival."""
        is_of_projects = request.GET.get("project") or not request.user.is_superuser
        return ("-created_at", "-pk") if is_of_projects else ("-pk",)

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """The columns; without the project if the list shows only one."""
        return self.list_display[:-1] if request.GET.get("project") else self.list_display

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list."""
        return super().changelist_view(request, {"title": "Feedback", **(extra_context or {})})

    @admin.display(description="At (UTC)", ordering="created_at")
    def created(self, row: Feedback) -> str:
        """When it was given, or changed last."""
        return f"{row.created_at:%Y-%m-%d %H:%M}"

    @admin.display(description="Helpful", ordering="helpful")
    def thumb(self, row: Feedback) -> str:
        """Thumb up or down."""
        return {True: "Yes", False: "No", None: "–"}[row.helpful]

    @admin.display(description="Feedback")
    def excerpt(self, row: Feedback) -> str:
        """The beginning of the comment, reason or code."""
        text = visible(" ".join((row.comment or row.reason or row.code).split()))
        return f"{text[:MAX_EXCERPT_LENGTH]}…" if len(text) > MAX_EXCERPT_LENGTH else text or "–"

    @admin.display(description="Page", ordering="path")
    def page(self, row: Feedback) -> str:
        """The page, as a link to it."""
        return format_html('<a href="{}">{}</a>', row.project.url_of(row.path), visible(row.path))

    @admin.display(description="Code")
    def code_block(self, row: Feedback) -> str:
        """The code, unchanged."""
        return format_html('<pre class="sample">{}</pre>', row.code)

    @admin.display(description="Answer")
    def answer(self, row: Feedback) -> str:
        """A link to the conversation with the answer."""
        assert row.message
        thread_id = row.message.thread.thread_id
        link = navigation.page_url("conversations", row.project, thread_id, name="read")
        return format_html('<a href="{}">Read the conversation</a>', link)


navigation.add_page(
    "feedback",
    "Feedback",
    group="Questions",
    position=55,
    views=[
        ("", triage.show_feedback, ""),
        ("<str:name>.<str:form>", triage.download_feedback, "file"),
        ("<str:feedback_id>", feedback_detail.show_detail, "detail"),
    ],
    reads=Role.VIEWER,
    acts=Role.WRITER,
)
