"""Requests and responses of the exports of searches and questions."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, PlainValidator

from analytics.api.schemas import DatesQuery, TextFilter, single_value, text_filter, whole_number
from docsite.core.http import cursor
from docsite.core.http.cursor import Cursor


def _parse_cursor(value: Any) -> Cursor:
    return cursor.parse(single_value(value))


class PageQuery(DatesQuery):
    """The range of an export, and the cursor of a page."""

    cursor: Annotated[Cursor | None, PlainValidator(_parse_cursor, json_schema_input_type=str)] = Field(
        None, description="`nextCursor` of the previous page. Dates that you send with it must be those of that page."
    )


class SearchesQuery(PageQuery):
    """The range and the page of the searches, and a filter."""

    path: TextFilter = text_filter("searches after which the reader opened this page")
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=100, description="Rows on this page.")


class ConversationsQuery(PageQuery):
    """The range and the page of the conversations, and a filter."""

    path: TextFilter = text_filter("questions that were asked on this page")
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(100, ge=1, le=1000, description="Rows on this page.")


NextCursor = Annotated[str | None, Field(description="The cursor of the page that follows; null on the last one.")]


class SearchRow(BaseModel):
    """One query, whatever its upper and lower case."""

    searchQuery: str = Field(description="In its most frequent spelling.")
    hits: int = Field(description="How often it was searched for.")
    ctr: float = Field(ge=0, le=1, description="The share of these searches after which a result was opened.")
    topClickedPage: str | None = Field(description="Path of the page that was opened most often.")
    lastSearchedAt: datetime


class SearchesResponse(BaseModel):
    """One page of search queries."""

    searches: list[SearchRow]
    totalSearches: int = Field(description="All searches of the range.")
    nextCursor: NextCursor


class CitedPage(BaseModel):
    """A page that an answer cites."""

    title: str
    url: str


Outcome = Literal["running", "answered", "closest_passages", "unsupported", "refused", "greeting", "cut", "failed"]


class ConversationRow(BaseModel):
    """A reader's question and the answer to it."""

    id: str = Field(description="Id of the question.")
    threadId: str
    timestamp: datetime = Field(description="When it was asked.")
    query: str
    response: str = Field(description="Markdown. Cut short if the answer broke off; empty if there is no answer.")
    responseType: Literal["answer", "clarifying_question"]
    sources: list[CitedPage]
    resolutionStatus: Literal["answered", "unanswered"] = Field(
        description="`answered`: an answer with a source, or small talk. Refusals, closest passages and answers that "
        "were cut off are `unanswered`."
    )
    outcome: Outcome | None = Field(
        description="What became of it, as the admin counts it. Its answered rate is that of `answered` among all but "
        "`greeting` (small talk) and `running`. Null: no answer is stored, or the row is of a very early release."
    )
    conversationId: str = Field(description="The thread, again.")
    queryCategory: str | None = Field(description="Always null: questions are not sorted into categories.")
    pageUrl: str | None = Field(description="The page that the reader was on.")
    costMicros: int | None = Field(
        description="What the answer cost, in millionths of the currency of the project's prices. Null: no answer, or "
        "its model had no price."
    )


class ConversationsResponse(BaseModel):
    """One page of questions with their answers."""

    conversations: list[ConversationRow]
    nextCursor: NextCursor
    hasMore: bool = Field(description="Whether rows follow this page.")


class ThreadMessage(BaseModel):
    """One turn."""

    id: str
    role: Literal["user", "assistant"]
    content: str
    createdAt: datetime


class ThreadResponse(BaseModel):
    """One conversation, its messages in order."""

    threadId: str
    createdAt: datetime
    messages: list[ThreadMessage]


class CallerStatsResponse(BaseModel):
    """The number of questions by where they came from."""

    web: int = Field(description="The widget, or a page of an allowed origin.")
    api: int = Field(description="The API without a browser.")
    other: int = Field(description="The rest.")
    total: int
