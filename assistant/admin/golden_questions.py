"""Golden questions in the admin: their list and form, and buttons that run them."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import path

from assistant.improving.golden_questions import checks
from assistant.models import GoldenQuestion
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.staff import project_of, projects_of
from docsite.core.workspace import navigation
from docsite.core.workspace.scoped_admin import ProjectFilter, ScopedAdmin

MAX_RUN_BUTTONS = 20  # projects that can be run from the list of all
MAX_CHANGE_MESSAGES = 20  # changed results that are shown after a run


class LinesField(forms.Field):
    """A list as text, one item on each line."""

    widget = forms.Textarea(attrs={"rows": 4, "cols": 60})

    def prepare_value(self, value: Any) -> Any:
        """Join the items to lines; keep what a user has typed."""
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        """Split the lines to items."""
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]


class GoldenQuestionForm(forms.ModelForm):
    """A question, the pages that its answer must cite, and a fact that it must tell."""

    paths = LinesField(
        label="Pages",
        required=False,
        help_text="The pages that the answer must cite, all of them: paths or addresses, one a line. "
        "Without pages and fact, the assistant must refuse to answer.",
    )

    class Meta:
        model = GoldenQuestion
        fields = ("project", "text", "paths", "fact")

    def clean_text(self) -> str:
        """Replace blanks by single spaces, as `manage.py golden` does."""
        return " ".join(str(self.cleaned_data["text"]).split())

    def clean_paths(self) -> list[str]:
        """Turn each page into its path in the project."""
        project = self.cleaned_data.get("project")
        return list(dict.fromkeys(project.path_of(page) for page in self.cleaned_data["paths"])) if project else []


golden_list_url = navigation.list_url("assistant_goldenquestion")
navigation.add_page(
    "golden",
    "Golden questions",
    group="Content",
    position=63,
    url=golden_list_url,
    names=["assistant_golden_run"],
    reads=Role.VIEWER,
    acts=Role.WRITER,
)


@admin.register(GoldenQuestion)
class GoldenQuestionAdmin(ScopedAdmin):
    """The golden questions of the user's projects, with their last results."""

    organization = "project__organization"
    addable = changeable = deletable = True
    reads, acts = Role.VIEWER, Role.WRITER
    form = GoldenQuestionForm
    # An extra adds to the fields and columns what it knows of a question.
    fields = ("project", "text", "paths", "fact", "result", "change", "cited_pages", "ran_at")
    readonly_fields = ("result", "change", "cited_pages", "ran_at")
    list_display = ("text", "project", "pages", "result", "change", "ran_at")
    list_filter = (ProjectFilter, "passed", "changed")
    list_select_related = ("project",)
    search_fields = ("text",)
    actions = ("run_chosen",)

    @admin.display(description="Pages")
    def pages(self, question: GoldenQuestion) -> str:
        """The pages that the answer must cite."""
        return ", ".join(question.paths) or ("any" if question.fact else "none: no answer")

    @admin.display(description="Result", ordering="passed")
    def result(self, question: GoldenQuestion) -> str:
        """The last result, as a sign and a word: not everybody sees or hears the sign."""
        if question.passed is None:
            return "not run"
        return "✓ passes" if question.passed else "✗ fails"

    @admin.display(description="Changed", ordering="changed")
    def change(self, question: GoldenQuestion) -> str:
        """How the last result differs from the one before."""
        return checks.describe_change(question) or "–"

    @admin.display(description="Cited")
    def cited_pages(self, question: GoldenQuestion) -> str:
        """The pages that the answer of the last run cited."""
        return ", ".join(question.cited) or "–"

    def save_model(self, request: HttpRequest, obj: GoldenQuestion, form: Any, change: bool) -> None:
        """Save the question, and clear its results if it changed. Pages may be missing: they may be ingested later."""
        if form.changed_data:
            checks.reset(obj)
        super().save_model(request, obj, form, change)
        if missing := checks.find_missing_pages(obj.project, obj.paths):
            messages.warning(request, f"Not in the index of {obj.project}: {', '.join(missing)}")

    def get_urls(self) -> list[Any]:
        """Add the address of the buttons."""
        run = self.admin_site.admin_view(self.run_all)
        return [path("run/<str:domain>", run, name="assistant_golden_run"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, with a button for each project, or for the chosen one."""
        projects = projects_of(request, self.acts).filter(golden_questions__isnull=False)
        if chosen := request.GET.get("project", "").replace("\0", ""):
            projects = projects.filter(domain=chosen)
        projects = projects.annotate(question_count=Count("golden_questions"))[:MAX_RUN_BUTTONS]
        return super().changelist_view(request, {**(extra_context or {}), "golden_projects": projects})

    def run_all(self, request: HttpRequest, domain: str) -> HttpResponse:
        """Run a project's questions, and redirect to their list."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        project = project_of(request, domain)
        self._run(request, project, project.golden_questions.all())
        return HttpResponseRedirect(golden_list_url(project))

    @admin.action(description="Run the selected golden questions", permissions=["change"])
    def run_chosen(self, request: HttpRequest, queryset: "QuerySet[GoldenQuestion]") -> None:
        """Run the selected questions, project by project."""
        chosen = queryset.select_related("project").order_by("project", "pk")
        for project, questions in groupby(chosen, key=lambda question: question.project):
            self._run(request, project, questions)

    def _run(self, request: HttpRequest, project: Project, questions: Iterable[GoldenQuestion]) -> None:
        """Run questions, and show which results changed."""
        try:
            done = checks.run(project, questions)
        except checks.AnswerFailed as failure:
            messages.error(request, f"{failure}.")
            return
        changed = [question for question in done if question.changed]
        for question in changed[:MAX_CHANGE_MESSAGES]:
            if question.passed:
                messages.success(request, f"{checks.describe_change(question).capitalize()}: {question}")
            else:
                messages.warning(request, f"Newly failing: {question}: {checks.describe_failure(question)}")
        failing = sum(not question.passed for question in done)
        summary = f"Asked {len(done)} of {project}: {len(done) - failing} pass, {failing} fail, {len(changed)} changed."
        (messages.warning if failing else messages.success)(request, summary)
