"""`give_feedback`: whether a page or an answer helped, for the people who write the documentation."""

from typing import Any

from pydantic import BaseModel, Field, StrictBool, StrictStr

from analytics.feedback import store
from analytics.feedback.schemas import FeedbackIn
from analytics.limits import FEEDBACK_IP
from analytics.models import Feedback
from assistant.models import Message
from docsite.core.db import in_db
from docsite.core.http.client_address import network_of
from docsite.core.http.errors import BadRequest
from docsite.core.tenants.models import Project
from docsite.extras.mcp.tools.tool import Output, Tool, ToolContext
from search.models import Document
from search.retrieval.links import page_of


class Arguments(BaseModel):
    """What the feedback is about, and what it says."""

    helpful: StrictBool = Field(description="Whether the page or the answer helped.")
    path: StrictStr = Field("", max_length=2000, description="The page, as search_docs returns it.")
    messageId: StrictStr = Field(
        "", max_length=128, description="The answer, as ask_docs returns it, instead of a page."
    )
    comment: StrictStr = Field(
        "", max_length=4000, description="What was wrong, missing or good, in words that help to correct the page."
    )


class Receipt(BaseModel):
    """The feedback was stored."""

    stored: bool


async def _call(context: ToolContext, arguments: Arguments) -> Output:
    await context.spend([(FEEDBACK_IP, network_of(context.caller.address))])
    await in_db(_store)(context.caller.project, arguments)
    return Output("Thank you. The people who write the documentation will see it.", Receipt(stored=True))


def _store(project: Project, arguments: Arguments) -> None:
    if bool(arguments.path) == bool(arguments.messageId):
        raise BadRequest("path: name either the page by its path, or the answer by its messageId")
    about: dict[str, Any] = {"path": _find_cited_page(project, arguments.messageId), "messageId": arguments.messageId}
    if arguments.path:
        path = page_of(project, project.path_of(arguments.path))
        if not Document.objects.filter(project=project, path=path).exists():
            raise BadRequest(f"path: there is no page at {arguments.path[:100]}")
        about = {"path": path}
    feedback = {"source": "contextual", "helpful": arguments.helpful, "comment": arguments.comment, **about}
    store.record(project, FeedbackIn.model_validate(feedback), Feedback.Source.AGENT)


def _find_cited_page(project: Project, message_id: str) -> str:
    """The page that an answer cites first, since an agent is on none. The first page of the site if it cites none."""
    answer = Message.objects.filter(project=project, message_id=message_id).only("sources").first()
    return project.path_of(answer.sources[0]["url"]) if answer and answer.sources else "/"


TOOL = Tool(
    "give_feedback",
    "Give feedback",
    "Tell the people who write this documentation whether a page or an answer of ask_docs helped, and what is wrong or "
    "missing. Use it when a page turned out to be wrong, outdated or incomplete, or when the user says so.",
    Arguments,
    Receipt,
    _call,
    reads_only=False,
)
