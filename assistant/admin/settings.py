"""The admin page of a project's assistant: its settings, and a form to try them with a question."""

from functools import partial
from typing import Any, ClassVar

from asgiref.sync import async_to_sync
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from assistant.admin.preview import MultilineField, Preview, PreviewForm, run_preview
from assistant.admin.widget import show_widget_page
from assistant.models import AssistantSettings
from assistant.models.settings import MAX_STARTERS
from assistant.running_answers.capacity import Full
from assistant.spending.budget import NOTICE_PERCENT, list_limits
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import extensions, navigation
from docsite.core.workspace.scoped_admin import ScopedAdmin
from search.retrieval.answerability import MIN_CLOSE_CHANCE

_STARTERS = [f"starter_{number}" for number in range(1, MAX_STARTERS + 1)]


class SettingsForm(forms.ModelForm):
    """The settings of a project's assistant.

    The operator pays for the model server, so only superusers may choose a model.
    """

    instructions = MultilineField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Sent to the model with every question: tone, names of products, topics to refuse. Readers do not "
        "see them.",
    )
    deflection = MultilineField(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Refusal text",
        help_text="Shown when the documentation has no answer, between “I couldn't find this in the documentation.” "
        "and the nearest pages. Markdown is allowed, links included.",
    )
    support_url = forms.CharField(
        required=False,
        max_length=300,
        label="Support link",
        help_text="Offered below the nearest pages: https://…, mailto:…, or an e-mail address. A web address gets the "
        "conversation’s id as threadId. If the project takes support requests, their form takes its place.",
    )

    class Meta:
        model = AssistantSettings
        fields = ("instructions", "deflection", "support_url", "model", "temperature", "reasoning_effort", "threshold")
        help_texts: ClassVar = {
            "temperature": "0 to 2. With a lower value, two answers to the same question differ less. Empty: the "
            "default of the model server.",
            "reasoning_effort": "For models that think: low, medium or high; some servers also know none, minimal or "
            "xhigh. More effort costs more time and tokens. Only superusers can choose it. Empty: as configured.",
            "threshold": "0 to 1. Without a model, the assistant refuses if the chance of an answer is smaller. "
            f"Empty: {MIN_CLOSE_CHANCE}, the calibrated value. Try questions below to see their chances.",
        }

    def __init__(self, assistant: AssistantSettings, *, may_choose_model: bool, data: Any = None) -> None:
        starters = dict(zip(_STARTERS, assistant.starter_questions, strict=False))
        super().__init__(data, instance=assistant, initial=starters)
        for number, name in enumerate(_STARTERS, 1):
            self.fields[name] = forms.CharField(required=False, max_length=120, label=f"Starter question {number}")
        self.fields[_STARTERS[-1]].help_text = (
            "The widget offers these questions in an empty conversation. All empty: questions from headings of "
            "your pages."
        )
        self.fields["model"].help_text = _model_help(may_choose_model)
        self.fields["model"].disabled = not may_choose_model
        self.fields["reasoning_effort"].disabled = not may_choose_model
        self.fields["model"].widget.attrs["placeholder"] = settings.ENV.openai_base_url and settings.ENV.openai_model
        self.fields["reasoning_effort"].widget.attrs["placeholder"] = settings.ENV.openai_reasoning_effort
        self.order_fields(["instructions", *_STARTERS, "deflection", "support_url"])

    def unsaved_settings(self) -> AssistantSettings:
        """The settings with the values of the form. Saves nothing."""
        assistant: AssistantSettings = self.instance
        assistant.starter_questions = [self.cleaned_data[name] for name in _STARTERS if self.cleaned_data[name]]
        return assistant

    def save(self, commit: bool = True) -> AssistantSettings:
        """Save the settings. Two first saves at once write the same row."""
        assistant = self.unsaved_settings()
        with transaction.atomic():
            assistant.pk = AssistantSettings.objects.get_or_create(project=assistant.project)[0].pk
            assistant.save()
        return assistant


def _model_help(may_choose: bool) -> str:
    env = settings.ENV
    if not env.openai_base_url:
        return "No model server is configured, so answers are quoted from the documentation."
    if may_choose:
        return f"Name of another model of the same server. Empty: {env.openai_model}."
    return "Only superusers can choose another model, because the operator of this service pays for it."


@admin.register(AssistantSettings)
class AssistantSettingsAdmin(ScopedAdmin):
    """A page for each project's assistant. Django's own list and form of the rows lead to these pages."""

    organization = "project__organization"
    changeable = True

    def get_urls(self) -> list[Any]:
        """Add the pages of each project, by the project's domain."""
        settings_page = self.admin_site.admin_view(self.settings_page)
        widget_page = self.admin_site.admin_view(partial(show_widget_page, self))
        return [
            path("of/<str:domain>", settings_page, name="assistant_settings"),
            path("widget/<str:domain>", widget_page, name="assistant_widget"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the projects: a project has no settings row before its first save."""
        if not self.has_view_permission(request):
            raise PermissionDenied("Your role does not allow you to open this page.")
        return HttpResponseRedirect(reverse("admin:index"))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the project's page; the admin's history and its log of recent actions link here."""
        assistant = self.get_object(request, unquote(object_id))
        if assistant is None:
            raise Http404
        return HttpResponseRedirect(reverse("admin:assistant_settings", args=[assistant.project.domain]))

    def settings_page(self, request: HttpRequest, domain: str) -> HttpResponse:
        """Show and save the settings, or answer a question with the values of the form, saved or not."""
        project = project_of(request, domain)
        assistant = AssistantSettings.for_project(project)
        is_preview = "try" in request.POST
        form = SettingsForm(assistant, may_choose_model=request.user.is_superuser, data=request.POST or None)
        preview_form = PreviewForm(project, request.POST if is_preview else None)
        preview: Preview | None = None
        if request.method == "POST" and form.is_valid():
            if not is_preview:
                form.save()
                messages.success(request, "Saved. It applies from the next answer on.")
                return HttpResponseRedirect(request.path)
            if preview_form.is_valid():
                network = network_of(client_ip(request))
                try:
                    preview = async_to_sync(run_preview)(
                        project, form.unsaved_settings(), preview_form.to_question(), network
                    )
                except Full as full:
                    preview_form.add_error(None, str(full))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Assistant: {project.name}",
            "opts": self.opts,
            "project": project,
            "assistant": assistant,
            "form": form,
            "preview_form": preview_form,
            "preview": preview,
            "notices": [limit for limit in list_limits(project) if limit.percent >= NOTICE_PERCENT],
        }
        return TemplateResponse(request, "admin/assistant/settings.html", context)


navigation.add_page(
    "assistant",
    "Assistant",
    group="Set-up",
    position=71,
    url=lambda project: reverse("admin:assistant_settings", args=[project.domain]),
    names=["assistant_settings"],
)
navigation.add_page(
    "widget",
    "Widget",
    group="Set-up",
    position=72,
    url=lambda project: reverse("admin:assistant_widget", args=[project.domain]),
    names=["assistant_widget"],
)
extensions.add_settings("Assistant", AssistantSettings, "support_url")
extensions.add_settings(extensions.PRIVACY, AssistantSettings, "conversation_days")
