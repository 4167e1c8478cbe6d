"""The page “Certainty”: how often answers without a model miss, thresholds that keep a promise, answers to judge."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from assistant.conversations import transcript
from assistant.models import AssistantSettings, Message
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import has_role
from docsite.core.workspace import navigation
from docsite.extras.replay.certainty import fitting, samples
from docsite.extras.replay.models import Judgement
from search.retrieval.answerability import MIN_CHANCE

KEY = "certainty"
LIMITS = (1, 2, 5, 10, 20)  # percent of answers that may miss
VERDICTS = {"right": True, "wrong": False}


def show(request: HttpRequest, project: Project) -> HttpResponse:
    """The curves, the thresholds, and the next answer to judge."""
    golden = samples.load_golden(project)
    judged = list(samples.load_judged(project))
    threshold = AssistantSettings.for_project(project).threshold
    known = [*golden.answers, *judged]
    fits = [fitting.fit(known, limit / 100) for limit in LIMITS]
    context = {
        "golden": golden,
        "golden_count": len(golden.answers),
        "judged_count": len(judged),
        "now": fitting.measure(known, max(threshold or 0.0, MIN_CHANCE)),
        "threshold": threshold,
        "fits": list(zip(LIMITS, fits, strict=True)),
        "too_few": all(fit.threshold is None for fit in fits),
        "needed": fits[-1].needed,
        "most": LIMITS[-1],
        "confidence": round(100 * fitting.CONFIDENCE),
        "curves": [
            ("answers", "Answers, by the chance that the passages answer", fitting.compute_curve(known)),
            ("results", "Results of a search, by their score (scoreThreshold)", fitting.compute_curve(golden.results)),
        ],
        "following": _describe_next(project),
        "last": Judgement.objects.filter(project=project, judged_by=request.user.pk).order_by("judged_at", "pk").last(),
        "address": navigation.page_url(KEY, project),
        "settings": navigation.find_url("assistant", project, request),
        "may_judge": has_role(request, project.organization_id, Role.WRITER),
    }
    return navigation.render(request, "replay/certainty.html", project, "Certainty", context)


def judge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Store whether an answer is right, and go on to the next."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    verdict = request.POST.get("verdict")
    if verdict not in VERDICTS:
        return HttpResponseBadRequest("The verdict must be right or wrong.", content_type="text/plain")
    answer = get_object_or_404(samples.find_answers(project), pk=pk)  # two may judge it at once
    Judgement.objects.update_or_create(
        answer=answer,
        defaults={"project": project, "is_right": VERDICTS[verdict], "judged_by": request.user},
    )
    return HttpResponseRedirect(f"{navigation.page_url(KEY, project)}#judge")


def undo(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Forget one's own judgement of an answer, if there is one. It can be judged again."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    Judgement.objects.filter(project=project, answer=pk, judged_by=request.user.pk).delete()
    return HttpResponseRedirect(f"{navigation.page_url(KEY, project)}#judge")


def apply_limit(request: HttpRequest, project: Project, limit: int) -> HttpResponse:
    """Store the lowest threshold at which at most `limit` percent of answers miss. Redirects to the page.

    If no threshold is sure to keep the limit, the page says so, and nothing is stored.
    """
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    answers = samples.load_golden(project).answers
    found = fitting.fit([*answers, *samples.load_judged(project)], limit / 100) if limit in LIMITS else None
    if found is None or found.threshold is None:
        messages.error(request, "No threshold keeps that limit.")
    else:
        threshold = found.threshold if found.threshold > MIN_CHANCE else None  # no answer has a smaller chance anyway
        AssistantSettings.objects.update_or_create(project=project, defaults={"threshold": threshold})
        sentence = f"The threshold is {found.threshold:.2f} now: at most {limit} % of answers should miss."
        messages.success(request, sentence)
    return HttpResponseRedirect(navigation.page_url(KEY, project))


def _describe_next(project: Project) -> dict[str, Any] | None:
    answer = samples.find_unjudged(project).first()
    if answer is None:
        return None
    asked = Message.objects.filter(thread=answer.thread_id, role=Message.Role.USER, pk__lt=answer.pk).order_by("-pk")
    question = asked.first()
    return {
        "answer": answer,
        "html": transcript.render(answer.content),
        "question": question.content if question else "",
        "left": samples.find_unjudged(project).count(),
    }


navigation.add_page(
    KEY, "Certainty", group="Content", position=68, views=[("", show, "")], reads=Role.VIEWER, acts=Role.OWNER
)
navigation.add_page_address(KEY, "judge/<int:pk>", judge, "judge", reads=Role.WRITER, acts=Role.WRITER)
navigation.add_page_address(KEY, "undo/<int:pk>", undo, "undo", reads=Role.WRITER, acts=Role.WRITER)
navigation.add_page_address(KEY, "use/<int:limit>", apply_limit, "use")
