"""Export searches and questions of readers. Responses are built in a thread, since they may be large."""

from dataclasses import replace
from typing import Annotated, Literal, cast

from django.http import HttpResponse
from ninja import Path, Query, Router
from pydantic import Field

from analytics.api import paging
from analytics.api.question_schemas import (
    CallerStatsResponse,
    CitedPage,
    ConversationRow,
    ConversationsQuery,
    ConversationsResponse,
    Outcome,
    SearchesQuery,
    SearchesResponse,
    SearchRow,
    ThreadMessage,
    ThreadResponse,
)
from analytics.api.schemas import DatesQuery
from analytics.limits import analytics_charges
from assistant.conversations import answer_statistics
from assistant.conversations import report as assistant_report
from assistant.conversations.report import Exchange
from assistant.models import Message
from docsite.core.access.request_checks import AdminKey, CallerRequest
from docsite.core.db import REPORTS, in_db
from docsite.core.http.errors import NotFound
from docsite.core.tenants.models import Project
from search.query_log import totals
from search.retrieval.links import urls_of

router = Router()

ThreadId = Annotated[
    str, Field(pattern=r"^(thr|msg)_[a-z2-7]{26}$", description="A thread, or one of its questions or answers.")
]


@router.get(
    "/{projectId}/searches",
    auth=AdminKey(analytics_charges),
    operation_id="getSearches",
    summary="Get search queries",
    description="The most frequent first, then by query. Later pages count the same searches as the first page.",
    response=SearchesResponse,
)
async def searches(request: CallerRequest, projectId: str, params: Query[SearchesQuery]) -> HttpResponse:
    """Queries of readers. Upper and lower case count as one query."""
    return await in_db(_searches, REPORTS)(request.auth.project, params)


def _searches(project: Project, params: SearchesQuery) -> HttpResponse:
    begin = paging.start_cursor(params, f"searches {project.project_id} {params.path}")
    after = totals.Cursor(*begin.place) if begin.place else None
    page = totals.fetch_page(project, begin.start, begin.end, params.limit, after, params.path or "")
    rows = [
        SearchRow(
            searchQuery=row["text"],
            hits=row["hits"],
            ctr=row["clicks"] / row["hits"],
            topClickedPage=row["opened"],
            lastSearchedAt=row["latest"],
        )
        for row in page.rows
    ]
    following = str(replace(begin, place=list(page.next))) if page.next else None
    return paging.json_response(SearchesResponse(searches=rows, totalSearches=page.total, nextCursor=following))


@router.get(
    "/{projectId}/assistant",
    auth=AdminKey(analytics_charges),
    operation_id="getConversations",
    summary="Get questions and answers",
    description="One row for each question, newest first, with its latest answer.",
    response=ConversationsResponse,
)
async def conversations(request: CallerRequest, projectId: str, params: Query[ConversationsQuery]) -> HttpResponse:
    """Questions to the assistant with its answers."""
    return await in_db(_conversations, REPORTS)(request.auth.project, params)


def _conversations(project: Project, params: ConversationsQuery) -> HttpResponse:
    begin = paging.start_cursor(params, f"assistant {project.project_id} {params.path}")
    found = assistant_report.list_exchanges(
        project, begin.start, begin.end, params.limit + 1, paging.last_row(begin), params.path or ""
    )
    exchanges, following = paging.split_page(begin, found, params.limit, lambda exchange: exchange.place)
    urls = urls_of(project, {exchange.question.page_path for exchange in exchanges})
    rows = [_row(exchange, urls) for exchange in exchanges]
    return paging.json_response(
        ConversationsResponse(conversations=rows, nextCursor=following, hasMore=following is not None)
    )


def _row(exchange: Exchange, urls: dict[str, str]) -> ConversationRow:
    question, answer = exchange.question, exchange.answer
    return ConversationRow(
        id=question.message_id,
        threadId=question.thread.thread_id,
        timestamp=question.created_at,
        query=question.content,
        response=answer.content if answer else "",
        responseType="answer",  # the assistant never asks a question
        sources=[CitedPage(**source) for source in answer.sources] if answer else [],
        resolutionStatus="answered" if exchange.is_answered else "unanswered",
        outcome=cast(Outcome | None, answer.outcome) if answer else None,
        conversationId=question.thread.thread_id,
        queryCategory=None,
        pageUrl=urls[question.page_path] if question.page_path else None,
        costMicros=answer.cost if answer else None,
    )


@router.get(
    "/{projectId}/assistant/caller-stats",
    auth=AdminKey(analytics_charges),
    operation_id="getCallerStats",
    summary="Count questions by where they came from",
    response=CallerStatsResponse,
)
async def caller_stats(request: CallerRequest, projectId: str, params: Query[DatesQuery]) -> CallerStatsResponse:
    """How many questions came from browsers, from the API, and from elsewhere, such as agents."""
    start, end = paging.parse_range(params)
    counts = await in_db(answer_statistics.count_callers, REPORTS)(request.auth.project, start, end)
    web, api = counts[Message.Caller.WEB], counts[Message.Caller.API]
    return CallerStatsResponse(web=web, api=api, other=counts.total() - web - api, total=counts.total())


@router.get(
    "/{projectId}/assistant/threads/{threadId}",
    auth=AdminKey(analytics_charges),
    operation_id="getConversation",
    summary="Get a conversation",
    response=ThreadResponse,
)
async def thread(request: CallerRequest, projectId: str, threadId: Path[ThreadId]) -> HttpResponse:
    """One conversation with its messages, oldest first."""
    return await in_db(_thread, REPORTS)(request.auth.project, threadId)


def _thread(project: Project, thread_id: str) -> HttpResponse:
    found = assistant_report.load_conversation(project, thread_id)
    if found is None:
        raise NotFound("No such conversation.")
    thread, messages = found
    turns = [
        ThreadMessage(
            id=turn.message_id,
            role=cast(Literal["user", "assistant"], turn.role),
            content=turn.content,
            createdAt=turn.created_at,
        )
        for turn in messages
    ]
    return paging.json_response(ThreadResponse(threadId=thread.thread_id, createdAt=thread.created_at, messages=turns))
