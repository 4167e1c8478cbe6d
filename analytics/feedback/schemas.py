"""Requests and responses of the feedback endpoints."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictBool,
    StrictStr,
    WithJsonSchema,
)

from analytics.api.question_schemas import NextCursor, PageQuery
from analytics.api.schemas import DatesQuery, TextFilter, single_value, text_filter, whole_number
from analytics.models import Feedback
from docsite.core.http.errors import BadRequest
from docsite.core.http.schemas import configure_with_example

Text = Annotated[StrictStr | None, AfterValidator(lambda text: text and text.strip())]
Status = Literal["pending", "in_progress", "resolved", "dismissed"]


class FeedbackIn(BaseModel):
    """A reader's feedback on a page, on code of the page, or on an answer."""

    model_config = configure_with_example(
        {"source": "contextual", "path": "/install", "helpful": False, "comment": "Which Python?"}
    )

    source: Literal["contextual", "code_snippet", "thumbs_only"]
    path: StrictStr = Field(min_length=1, max_length=2000, description="The page that the reader is on.")
    helpful: StrictBool | None = Field(None, description="Thumb up or down.")
    reason: Text = Field(None, max_length=200, description="A reason that your form offers, such as “Out of date”.")
    comment: Text = Field(None, max_length=4000)
    contact: Text = Field(None, max_length=300, description="How to reach the reader, if they want an answer.")
    code: Text = Field(None, max_length=32_000, description="The code that the feedback is about.")
    filename: Text = Field(None, max_length=300, description="Title of the code.")
    lang: Text = Field(None, max_length=50, description="Language of the code.")
    messageId: StrictStr | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="The answer that the feedback is about. New feedback on an answer replaces the old.",
    )
    id: StrictStr | None = Field(
        None,
        min_length=16,
        max_length=64,
        description="A random id that your page makes. Feedback with the same id replaces the old, or withdraws it.",
    )

    @property
    def is_withdrawal(self) -> bool:
        """Whether the reader withdraws earlier feedback: it names an answer or an id, and is empty."""
        texts = (self.reason, self.comment, self.contact, self.code, self.filename, self.lang)
        return bool(self.messageId or self.id) and self.helpful is None and not any(texts)

    def check(self) -> None:
        """Raise `BadRequest` when it is empty, or when it has both an answer and an id."""
        if self.messageId and self.id:
            raise BadRequest("id: is not for feedback of an answer; leave it out with messageId")
        if self.is_withdrawal:
            return
        if self.source == "code_snippet":
            if not self.code:
                raise BadRequest("code: is required for the source code_snippet")
        elif self.helpful is None and not (self.reason or self.comment):
            raise BadRequest(f"helpful: or a reason or a comment is required for the source {self.source}")


def _parse_statuses(value: Any) -> tuple[str, ...]:
    statuses = tuple(str(single_value(value)).split(","))
    if not set(statuses) <= set(Feedback.Status.values):
        raise ValueError(f"must be some of {', '.join(Feedback.Status.values)}, with commas between them")
    return statuses


_A_STATUS = f"({'|'.join(Feedback.Status.values)})"
_StatusList = Annotated[str, Field(pattern=f"^{_A_STATUS}(,{_A_STATUS})*$")]
_Statuses = Annotated[
    tuple[str, ...],
    PlainValidator(_parse_statuses, json_schema_input_type=_StatusList),
    Field(description="Comma list of pending, in_progress, resolved, dismissed. Default: all."),
]
_Source = Annotated[
    Literal["code_snippet", "contextual", "agent", "thumbs_only"] | None,
    BeforeValidator(single_value),
    WithJsonSchema({"type": "string", "enum": Feedback.Source.values}),
]


class FeedbackQuery(PageQuery):
    """The range and the page of a list of feedback, and its filters."""

    source: _Source = Field(None, description="Kind of feedback. Default: all.")
    status: _Statuses = Field(default_factory=tuple)
    path: TextFilter = text_filter("feedback on this page")
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=100, description="Rows on this page.")


class FeedbackByPageQuery(DatesQuery):
    """The range of the feedback to count, and its filters."""

    source: _Source = Field(None, description="Kind of feedback. Default: all.")
    status: _Statuses = Field(default_factory=tuple)
    path: TextFilter = text_filter("feedback on this page")
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(10, ge=1, le=100, description="Rows in the answer.")


class FeedbackRow(BaseModel):
    """The fields of all feedback."""

    id: str
    path: str = Field(description="The page that the reader was on.")
    comment: str | None
    createdAt: datetime = Field(description="When it was given, or changed last.")
    status: Status
    messageId: str = Field("", description="The answer that it is about. Left out if it is not about an answer.")


class ContextualFeedback(FeedbackRow):
    """Feedback on a page or an answer."""

    source: Literal["contextual", "agent", "thumbs_only"]
    helpful: bool | None
    reason: str | None
    contact: str | None


class CodeSnippetFeedback(FeedbackRow):
    """Feedback on code."""

    source: Literal["code_snippet"]
    code: str
    filename: str | None
    lang: str | None


class FeedbackResponse(BaseModel):
    """One page of feedback."""

    feedback: list[ContextualFeedback | CodeSnippetFeedback]
    nextCursor: NextCursor
    hasMore: bool = Field(description="Whether rows follow this page.")


class FeedbackByPageRow(BaseModel):
    """The number of feedbacks on one page."""

    path: str
    thumbsUp: int
    thumbsDown: int
    code: int = Field(description="Feedback on code of the page. The thumbs counts do not include it.")
    total: int = Field(description="All feedback, also without a thumb.")


class FeedbackByPageResponse(BaseModel):
    """Feedback by page, most first."""

    feedback: list[FeedbackByPageRow]
    hasMore: bool = Field(description="Whether there are further pages.")
