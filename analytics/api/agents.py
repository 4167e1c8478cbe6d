"""Export the agents that read the documentation, and the annotations of the owner's reports."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router
from pydantic import BaseModel, BeforeValidator, Field

from analytics.api import paging
from analytics.api.question_schemas import NextCursor, PageQuery
from analytics.api.schemas import DatesQuery, TextFilter, single_value, text_filter, whole_number
from analytics.counting import agent_views
from analytics.counting.agent_views import Agent
from analytics.limits import analytics_charges
from analytics.reports import agent_report, annotations, visitor_counts
from docsite.core.access.request_checks import AdminKey, CallerRequest
from docsite.core.db import in_db
from docsite.core.http.dates import find_zone
from docsite.core.tenants.models import Project

router = Router()

ClientClass = Literal[
    "human", "ai_user", "ai_agent", "ai_search", "ai_training", "search_crawler", "other_bot", "http_client"
]


class AgentsQuery(PageQuery):
    """The range and the page of the agents, and which of them."""

    clientClass: Annotated[ClientClass | None, BeforeValidator(single_value)] = Field(
        None, description="Only agents of this class. `human`: browsers that read Markdown."
    )
    path: TextFilter = text_filter(
        "views of this page, from single views, which are kept for `RAW_VIEW_DAYS` or fewer days"
    )
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=250, description="Rows on this page.")


class AgentOut(BaseModel):
    """An agent, or all browsers that read Markdown, with the views of a range."""

    name: str = Field(description="As it calls itself; empty for browsers that read Markdown.")
    operator: str = Field(description="Empty if unknown.")
    clientClass: ClientClass
    views: int
    countedAsAi: int = Field(description="Its views that count as AI in the project.")
    html: int = Field(description="Its views of pages.")
    md: int = Field(description="Its views of pages as Markdown.")
    llms: int = Field(description="Its views of `llms.txt` and `llms-full.txt`.")
    verified: int = Field(description="Views from an address that its operator publishes.")
    claimed: int = Field(description="Views from other addresses, though its operator publishes some.")
    signed: int = Field(description="Views whose request was signed (Web Bot Auth).")
    rules: list[str] = Field(description="The rules that decided its class.")
    lastSeen: datetime


class AgentsResponse(BaseModel):
    """One page of agents."""

    agents: list[AgentOut]
    nextCursor: NextCursor
    hasMore: bool = Field(description="Whether rows follow this page.")


class AnnotationOut(BaseModel):
    """Something that happened and may explain a change of the numbers."""

    at: datetime
    kind: Literal["note", "index"] = Field(description="A note of the team, or that the index was replaced.")
    text: str


class AnnotationsResponse(BaseModel):
    """The annotations of a range, by time."""

    annotations: list[AnnotationOut]


@router.get(
    "/{projectId}/agents",
    auth=AdminKey(analytics_charges),
    operation_id="getAgents",
    summary="Get agents",
    description="Clients that are not people, and browsers that read Markdown; the most views first, then by name. "
    "Counted in whole hours: both ends of the range are rounded outwards. Later pages count again.",
    response=AgentsResponse,
)
async def agents(request: CallerRequest, projectId: str, params: Query[AgentsQuery]) -> HttpResponse:
    """The agents of a range."""
    return await in_db(_agents)(request.auth.project, params)


@router.get(
    "/{projectId}/annotations",
    auth=AdminKey(analytics_charges),
    operation_id="getAnnotations",
    summary="Get annotations",
    description="Notes of the team (the latest 200), and when the index was replaced: one row a day, at its last time.",
    response=AnnotationsResponse,
)
async def list_annotations(request: CallerRequest, projectId: str, params: Query[DatesQuery]) -> HttpResponse:
    """The annotations of a range."""
    return await in_db(_annotations)(request.auth.project, params)


def _agents(project: Project, params: AgentsQuery) -> HttpResponse:
    begin = paging.start_cursor(params, f"agents {project.project_id} {params.clientClass} {params.path}")
    visitor_counts.refresh(project)
    found = [
        agent
        for agent in agent_views.list_agents(project, begin.start, begin.end, params.path or "")
        if params.clientClass in (None, agent.client_class)
    ]
    if begin.place:
        found = [agent for agent in found if _place(agent) > begin.place]
    page, following = paging.split_page(begin, found, params.limit, _place)
    classes = visitor_counts.ai_classes(project)
    return paging.json_response(
        AgentsResponse(
            agents=[AgentOut(**agent_report.build_agent_row(agent, classes)) for agent in page],
            nextCursor=following,
            hasMore=following is not None,
        )
    )


def _place(agent: Agent) -> list[Any]:
    return [-agent.views, agent.name, agent.client_class, agent.operator]


def _annotations(project: Project, params: DatesQuery) -> HttpResponse:
    with timezone.override(find_zone(params.timezone)):
        marks = annotations.list_marks(project, *paging.parse_range(params))
    rows = [AnnotationOut(at=mark.at, kind="note" if mark.note else "index", text=mark.text) for mark in marks]
    return paging.json_response(AnnotationsResponse(annotations=rows))
