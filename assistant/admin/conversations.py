"""Conversations in the admin, to read and to delete; what a site's owner tells the assistant; and the widget."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from assistant.admin.forms import SettingsForm, TryForm, WidgetForm
from assistant.admin.preview import Trial, try_out
from assistant.models import AssistantSettings, Message, Thread, WidgetSettings
from assistant.sessions.running import Full
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.tenants import project_pages
from docsite.core.tenants.admin import (
    ReadOnlyRows,
    ScopedAdmin,
    organizations_of,
    project_of,
)
from docsite.core.tenants.models import Project


class MessageInline(ReadOnlyRows, admin.StackedInline):
    """The turns of a conversation."""

    model = Message
    fields = readonly_fields = (
        *("role", "content", "state", "caller", "page_path"),
        *("rung", "reason", "steps", "sources", "checks", "hits", "created_at"),
    )


@admin.register(Thread)
class ThreadAdmin(ScopedAdmin):
    """Conversations, newest first."""

    organization = "project__organization"
    deletable = True
    list_display = ("title", "project", "turns", "created_at")
    list_select_related = ("project",)
    search_fields = ("messages__content", "thread_id")
    date_hierarchy = "created_at"
    inlines = (MessageInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Threads with the number of their messages."""
        shown: QuerySet[Any] = super().get_queryset(request).annotate(turn_count=Count("messages", distinct=True))
        return shown

    @admin.display(description="Messages", ordering="turn_count")
    def turns(self, thread: Thread) -> int:
        """Questions and answers."""
        return int(getattr(thread, "turn_count", 0))


@admin.register(AssistantSettings)
class AssistantSettingsAdmin(ScopedAdmin):
    """A page for each project's assistant; Django's own list and form of the rows lead there."""

    organization = "project__organization"
    changeable = True

    def get_urls(self) -> list[Any]:
        """The pages of each project, whose last segment is its domain."""
        page, widget = map(self.admin_site.admin_view, (self.settings_page, self.widget_page))
        return [
            path("of/<slug:domain>", page, name="assistant_settings"),
            path("widget/<slug:domain>", widget, name="assistant_widget"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """All projects of the user, for most have no row until something is told."""
        mine = Project.objects.filter(organization__in=organizations_of(request)).select_related("assistant_settings")
        context = {
            **self.admin_site.each_context(request),
            "title": "Assistants",
            "opts": self.opts,
            "projects": mine,
        }
        return TemplateResponse(request, "admin/assistant/projects.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Where the history and the log of a user's deeds link to."""
        told = self.get_object(request, unquote(object_id))
        if told is None:
            raise Http404
        return HttpResponseRedirect(reverse("admin:assistant_settings", args=[told.project.domain]))

    def settings_page(self, request: HttpRequest, domain: str) -> HttpResponse:
        """What the assistant is told, and a question to try it out with what stands in the form, saved or not."""
        project = project_of(request, domain)
        told = AssistantSettings.of(project)
        is_new, is_try = told.pk is None, "try" in request.POST
        form = SettingsForm(told, may_choose_model=request.user.is_superuser, data=request.POST or None)
        question = TryForm(project, request.POST if is_try else None)
        trial: Trial | None = None
        if request.method == "POST" and form.is_valid():
            if not is_try:
                self._save(request, form, is_new)
                messages.success(request, "Saved. The next answer follows it.")
                return HttpResponseRedirect(request.path)
            if question.is_valid():
                network = network_of(client_ip(request))
                try:
                    trial = async_to_sync(try_out)(project, form.told(), question.asked(), network)
                except Full as full:
                    question.add_error(None, str(full))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Assistant: {project.name}",
            "opts": self.opts,
            "project": project,
            "told": told,
            "form": form,
            "question": question,
            "trial": trial,
        }
        response = TemplateResponse(request, "admin/assistant/settings.html", context)
        response.headers["Cache-Control"] = "no-store"
        return response

    def widget_page(self, request: HttpRequest, domain: str) -> HttpResponse:
        """How the widget looks and what it says."""
        project = project_of(request, domain)
        told = WidgetSettings.of(project)
        is_new = told.pk is None
        form = WidgetForm(told, request.POST or None)
        if request.method == "POST" and form.is_valid():
            self._save(request, form, is_new)
            messages.success(request, "Saved. Pages follow within a minute, when they are loaded anew.")
            return HttpResponseRedirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Widget: {project.name}",
            "opts": self.opts,
            "project": project,
            "form": form,
        }
        return TemplateResponse(request, "admin/assistant/widget.html", context)

    def _save(self, request: HttpRequest, form: SettingsForm | WidgetForm, is_new: bool) -> None:
        changes = self.construct_change_message(request, form, [], is_new)  # type: ignore[arg-type]  # it takes any form
        told = form.save()
        if is_new:
            self.log_addition(request, told, changes)
        elif form.has_changed():
            self.log_change(request, told, changes)


project_pages.add_link(
    "Assistant", lambda project: reverse("admin:assistant_settings", args=[project.domain]), position=3
)
project_pages.add_settings(AssistantSettings, "support_url")

from assistant.admin import golden_questions  # noqa: E402, F401  # registers golden questions
