"""The bodies of requests to the assistant, over HTTP and the socket (specification 2.5, 2.6, 4.2)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired, Self, cast

from ninja import Schema
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    WrapValidator,
    field_validator,
    model_validator,
    with_config,
)
from typing_extensions import TypedDict

from assistant.answering.question import Context, Question, Turn
from assistant.asking.askers import identify_asker
from docsite.core.access.authentication import Caller
from docsite.core.http.schemas import NonBlank, Whole, configure_with_example, floor_number
from search.hits import Filters
from search.schemas import FilterIn

MAX_TEXT = 32_000
MAX_TURNS = 40
DEFAULT_PASSAGES, MAX_PASSAGES = 5, 20


@with_config(extra="allow")
class PartIn(TypedDict):
    """A part of a message. Types other than `text` are ignored."""

    type: StrictStr
    text: NotRequired[Any]


def _validate_parts(parts: Any, validate: Callable[[Any], Any]) -> Any:
    """Check valid parts without pydantic, which would copy them, and would hold up all other threads until its end."""
    if isinstance(parts, list) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts):
        return parts
    return validate(parts)


Parts = Annotated[
    list[PartIn], Field(fail_fast=True), WrapValidator(_validate_parts)
]  # a body has room for a hundred thousand


class MessageIn(BaseModel):
    """A turn as client libraries build it. Only its role and its text are kept, since there may be very many parts."""

    # Further fields are allowed, and not kept: a body has room for a hundred thousand, which pydantic would copy.
    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})
    id: Any = Field(None, json_schema_extra={"type": "string"})
    role: StrictStr
    content: StrictStr | None = None
    parts: Parts | None = None

    @model_validator(mode="after")
    def _keep_text(self) -> Self:
        """Let the text parts joined be the content, if there is no other."""
        if not (self.content and self.content.strip()):
            texts = (part.get("text") for part in self.parts or [] if part["type"] == "text")
            self.content = "".join(text for text in texts if isinstance(text, str))
        self.id = self.parts = None
        return self

    @property
    def text(self) -> str:
        """The content, else the text parts joined."""
        return self.content or ""


class ContextIn(BaseModel):
    """A selected text or a code block of the page that the question is about."""

    type: Literal["code", "textSelection"] | None = None
    value: StrictStr = Field(max_length=MAX_TEXT)
    elementId: StrictStr | None = None
    path: StrictStr | None = None


class Ask(BaseModel):
    """A question with its conversation and its page."""

    model_config = configure_with_example(
        {
            "fp": "anonymous",
            "messages": [{"id": "1", "role": "user", "content": "How do I install acme?"}],
            "currentPath": "/install",
        }
    )

    fp: StrictStr = Field(min_length=1, max_length=256, description="`anonymous`, or an id of the reader.")
    messages: list[MessageIn] = Field(min_length=1, max_length=1000)
    threadId: StrictStr | None = Field(None, max_length=128, description="Continues a conversation.")
    retrievalPageSize: Annotated[int, Field(ge=1), floor_number] | None = Field(
        DEFAULT_PASSAGES, description="Passages to answer from: null counts as 5, above 20 as 20."
    )
    filter: FilterIn | None = None
    context: list[ContextIn] | None = Field(None, max_length=50)
    currentPath: StrictStr | None = Field(None, max_length=200, description="Page the reader is on.")
    suggestions: StrictBool | None = Field(False, description="End the answer with up to three sections to read next.")
    resumable: StrictBool | None = Field(
        False, description="The answer runs on for a while after its reader has left, so that it can be resumed."
    )

    @field_validator("messages")
    @classmethod
    def _ends_with_a_question(cls, messages: list[MessageIn]) -> list[MessageIn]:
        last = messages[-1]
        if last.role != "user":
            raise ValueError("the last message must have the role user")
        if not last.text.strip():
            raise ValueError("the last message has no text")
        if len(last.text) > MAX_TEXT:
            raise ValueError(f"the last message has more than {MAX_TEXT} characters")
        return messages

    def to_question(self, caller: Caller, origin: str, channel: str) -> Question:
        """The question of a caller, from a page of that origin. `channel`: a `Message.Caller`."""
        project = caller.project
        return Question(
            text=self.messages[-1].text.strip(),
            asker=identify_asker(caller, self.fp, origin, groups=self.filter.groups if self.filter else None),
            caller=channel,
            thread_id=self.threadId,
            resumable=bool(self.resumable),
            page_size=min(self.retrievalPageSize or DEFAULT_PASSAGES, MAX_PASSAGES),
            filters=self.filter.to_filters() if self.filter else Filters(),
            context=[
                Context(item.value, project.path_of(item.path) if item.path else "", item.type or "")
                for item in self.context or []
            ],
            current_path=project.path_of(self.currentPath) if self.currentPath else "",
            client_history=() if self.threadId else self._client_history(),
            suggestions=bool(self.suggestions),
        )

    def _client_history(self) -> list[Turn]:
        """Earlier turns as the client sent them, of readers and answers only."""
        turns = []
        for message in self.messages[-1 - MAX_TURNS : -1]:
            if message.role in ("user", "assistant") and (text := message.text.strip()):
                turns.append(Turn(cast(Literal["user", "assistant"], message.role), text[:MAX_TEXT]))
        return turns


class AskV2(Ask):
    """A question of a client of AI SDK 5 or later."""

    model_config = configure_with_example(
        {
            "id": "chat-1",
            "trigger": "submit-message",
            "fp": "anonymous",
            "messages": [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "How do I install acme?"}]}],
        }
    )

    id: StrictStr | None = Field(None, max_length=256, description="The client's id of the chat, to resume its answer.")
    trigger: Literal["submit-message", "regenerate-message"] | None = Field(
        None,
        description=(
            "`regenerate-message` replaces the last answer. Without a trigger, the output of a tool is"
            ' `{"results": [...]}` instead of an array, and if `Accept` names `application/json`, `finish` has'
            " `threadId` at its top level too."
        ),
    )
    messageId: StrictStr | None = Field(None, max_length=128, description="The answer to replace, if not the last.")

    def to_question(self, caller: Caller, origin: str, channel: str) -> Question:
        """The question with its chat, and the answer that it replaces."""
        question = super().to_question(caller, origin, channel)
        return replace(
            question,
            asker=replace(question.asker, chat_id=self.id or ""),
            replaces=self.trigger == "regenerate-message",
            message_id=self.messageId,
        )


class PreviewIn(BaseModel):
    """A question that is being typed."""

    model_config = configure_with_example({"question": "How do I install acme?"})

    question: NonBlank = Field(max_length=2000, description="What the reader has typed.")
    filter: FilterIn | None = None


class PreviewOut(Schema):
    """A sentence that answers the question, and its page. Where no sentence surely does, all fields are null."""

    sentence: str | None = None
    title: str | None = None
    url: str | None = None


class Forget(BaseModel):
    """Which conversation to delete."""

    model_config = configure_with_example({"fp": "anonymous", "threadId": "thr_abcdefghijklmnopqrstuvwxyz"})

    fp: StrictStr = Field(min_length=1, max_length=256)
    threadId: StrictStr = Field(min_length=1, max_length=128)


class Stop(BaseModel):
    """Which answer to end."""

    model_config = configure_with_example(
        {"fp": "anonymous", "threadId": "thr_abcdefghijklmnopqrstuvwxyz", "messageId": "msg_1"}
    )

    fp: StrictStr = Field(min_length=1, max_length=256)
    threadId: StrictStr = Field(min_length=1, max_length=128)
    messageId: StrictStr = Field(min_length=1, max_length=128)


class Resume(Stop):
    """Which answer to resume over the socket."""

    after: Whole = Field(0, ge=0, description="How many parts of the answer the client has.")
