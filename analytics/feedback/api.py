"""Collect feedback from browsers, and export it. Exports are built in a thread, since they may be large."""

from typing import Any

from django.http import HttpResponse
from ninja import Query, Router

from analytics.api import paging
from analytics.feedback import store, triage
from analytics.feedback.schemas import (
    CodeSnippetFeedback,
    ContextualFeedback,
    FeedbackByPageQuery,
    FeedbackByPageResponse,
    FeedbackByPageRow,
    FeedbackIn,
    FeedbackQuery,
    FeedbackResponse,
)
from analytics.feedback.triage import Selection
from analytics.limits import FEEDBACK_IP, analytics_charges
from analytics.models import Feedback
from docsite.core.access.request_checks import (
    AdminKey,
    AllowedOrigin,
    BrowserRequest,
    CallerRequest,
)
from docsite.core.db import REPORTS, in_db
from docsite.core.http.cursor import Moment
from docsite.core.tenants.models import Project

_EXPORTED_FIELDS = (
    *("feedback_id", "source", "status", "path", "helpful", "reason", "comment", "contact"),
    *("code", "filename", "lang", "created_at", "message__message_id"),
)

router = Router()
collect_router = Router()


@collect_router.post(
    "/{domain}",
    auth=AllowedOrigin(FeedbackIn, FEEDBACK_IP),
    operation_id="sendFeedback",
    summary="Send a reader's feedback",
    response={204: None},
)
async def submit_feedback(request: BrowserRequest, domain: str, payload: FeedbackIn) -> HttpResponse:
    """Store a reader's feedback on a page, on code of the page, or on an answer: 204 once it is committed."""
    await in_db(store.record)(request.auth, payload)
    return HttpResponse(status=204)


@router.get(
    "/{projectId}/feedback",
    auth=AdminKey(analytics_charges),
    operation_id="getFeedback",
    summary="Get feedback",
    description="Latest first. Feedback on an answer is deleted with its conversation.",
    response=FeedbackResponse,
)
async def get_feedback(request: CallerRequest, projectId: str, params: Query[FeedbackQuery]) -> HttpResponse:
    """Feedback on pages, code and answers."""
    return await in_db(_feedback, REPORTS)(request.auth.project, params)


def _feedback(project: Project, params: FeedbackQuery) -> HttpResponse:
    begin = paging.start_cursor(params, f"feedback {project.project_id} {params.path}")
    found = triage.select(project, begin.start, begin.end, _select(params))
    if after := paging.last_row(begin):
        found = found.filter(created_at__lte=after.at).exclude(created_at=after.at, pk__gte=after.pk)
    listed = list(found.select_related("message").only(*_EXPORTED_FIELDS)[: params.limit + 1])
    rows, following = paging.split_page(begin, listed, params.limit, lambda row: Moment(row.created_at, row.pk))
    return paging.json_response(
        FeedbackResponse(feedback=[_row(row) for row in rows], nextCursor=following, hasMore=following is not None)
    )


def _select(params: FeedbackQuery | FeedbackByPageQuery) -> Selection:
    return Selection(",".join(params.status), params.source or "", path=params.path or "")


def _row(row: Feedback) -> ContextualFeedback | CodeSnippetFeedback:
    common: dict[str, Any] = {
        "id": row.feedback_id,
        "path": row.path,
        "comment": row.comment or None,
        "createdAt": row.created_at,
        "source": row.source,
        "status": row.status,
        **({"messageId": row.message.message_id} if row.message else {}),
    }
    if row.source == Feedback.Source.CODE_SNIPPET:
        return CodeSnippetFeedback(**common, code=row.code, filename=row.filename or None, lang=row.lang or None)
    return ContextualFeedback(**common, helpful=row.helpful, reason=row.reason or None, contact=row.contact or None)


@router.get(
    "/{projectId}/feedback/by-page",
    auth=AdminKey(analytics_charges),
    operation_id="getFeedbackByPage",
    summary="Count feedback by page",
    description="Pages with the most feedback first, then by path.",
    response=FeedbackByPageResponse,
)
async def get_feedback_by_page(
    request: CallerRequest, projectId: str, params: Query[FeedbackByPageQuery]
) -> HttpResponse:
    """How much feedback each page has."""
    return await in_db(_by_page, REPORTS)(request.auth.project, params)


def _by_page(project: Project, params: FeedbackByPageQuery) -> HttpResponse:
    start, end = paging.parse_range(params)
    counted = triage.count_pages(project, start, end, _select(params)).order_by("-total", "path")
    found = list(counted.values_list("path", "up", "down", "code", "total")[: params.limit + 1])
    rows = [
        FeedbackByPageRow(path=path, thumbsUp=up, thumbsDown=down, code=code, total=total)
        for path, up, down, code, total in found[: params.limit]
    ]
    return paging.json_response(FeedbackByPageResponse(feedback=rows, hasMore=len(found) > params.limit))
