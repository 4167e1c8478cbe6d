"""Requests and responses of the support endpoints."""

import re
from typing import Annotated, Literal

from django.core.exceptions import ValidationError as InvalidEmail
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, Field, StrictStr

from assistant.models.support_requests import MAX_EXCHANGES
from docsite.core.http.errors import BadRequest
from docsite.core.http.schemas import configure_with_example

MAX_SUBJECT, MAX_MESSAGE, MAX_EMAIL = 200, 8_000, 254
MAX_LINKS = 5
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)

Text = Annotated[StrictStr, AfterValidator(str.strip)]


class SupportRequestIn(BaseModel):
    """A reader's question to a person."""

    model_config = configure_with_example(
        {
            "token": "eyJ0IjoxNzk1NDU2MDAwfQ:1vMq:signature",
            "email": "ada@example.com",
            "subject": "Labels on a matrix printer",
            "message": "How do I print labels on a matrix printer?",
        }
    )

    token: StrictStr = Field(max_length=500, description="The token of the form. A form can be sent once.")
    email: Text = Field(max_length=MAX_EMAIL, description="The reader's e-mail address, for the answer.")
    subject: Text = Field(max_length=MAX_SUBJECT)
    message: Text = Field(max_length=MAX_MESSAGE)
    path: Text = Field("", max_length=2000, description="The page that the reader is on.")
    threadId: StrictStr | None = Field(None, max_length=128, description="The conversation that goes along.")
    fp: StrictStr = Field("anonymous", min_length=1, max_length=256, description="The `fp` of that conversation.")
    messageIds: list[StrictStr] = Field(
        default_factory=list,
        max_length=MAX_EXCHANGES,
        description="The answers that go along, each with its question. Default: none.",
    )
    homepage: StrictStr = Field("", max_length=200, description="Leave it empty. Forms hide it: programs fill it in.")

    def check(self) -> None:
        """Raise `BadRequest` for what a person would not send."""
        wrong = [f"{name}: write something" for name in ("subject", "message") if not getattr(self, name)]
        try:
            validate_email(self.email)
        except InvalidEmail:
            wrong.append("email: write an e-mail address, such as name@example.com")
        if self.homepage:
            wrong.append("homepage: leave this field empty")
        if len(_LINK.findall(f"{self.subject} {self.message}")) > MAX_LINKS:
            wrong.append(f"message: has more than {MAX_LINKS} links")
        if wrong:
            raise BadRequest(*wrong)


class SupportForm(BaseModel):
    """What a form needs."""

    token: str = Field(description="Send it with the request. It is valid for a day.")
    waitSeconds: int = Field(description="A request is refused before so many seconds have passed.")


class SupportRequestOut(BaseModel):
    """What the reader gets."""

    id: str = Field(description="The number of the request, for the reader.")


class SupportFormEvent(BaseModel):
    """What happened in an owner's own form."""

    model_config = configure_with_example({"event": "shown"})

    event: Literal["begun", "shown", "solved", "sent"] = Field(
        description="The reader began to write, saw answers, said that one solved it, or sent the form."
    )
