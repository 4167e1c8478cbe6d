"""The questions of readers with their answers, for the API and the admin. It never returns a fingerprint (`fp`)."""

import json
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Exists, OuterRef, Q, Subquery, TextField, Value
from django.db.models.functions import Cast, StrIndex
from django.db.models.lookups import GreaterThan

from assistant.conversations import outcomes
from assistant.models import Message, Thread
from docsite.core.db import snapshot
from docsite.core.http.cursor import Moment
from docsite.core.tenants.models import Project
from search.retrieval.links import urls_of

_QUESTION_FIELDS = ("message_id", "content", "page_path", "created_at", "thread__thread_id")


@dataclass(frozen=True)
class Exchange:
    """A question and the answer that followed it, or None. An answer that was made anew replaces the one before."""

    question: Message
    answer: Message | None

    @property
    def is_answered(self) -> bool:
        """Whether the reader got an answer."""
        return self.answer is not None and outcomes.is_answered(self.answer)

    @property
    def place(self) -> Moment:
        """The position of the question, for the cursor."""
        return Moment(self.question.created_at, self.question.pk)


def list_exchanges(
    project: Project, start: datetime, end: datetime, limit: int, after: Moment | None = None, path: str = ""
) -> list[Exchange]:
    """List the questions of a half-open range with their answers, newest first, beginning behind `after`.

    `path`: only those that were asked on this page.
    """
    # EXISTS rather than a join: SQLite would begin with all threads of the project, where the index knows the newest.
    is_of_project = Exists(Thread.objects.filter(pk=OuterRef("thread"), project=project))
    matching = Message.objects.filter(is_of_project, role=Message.Role.USER, created_at__gte=start, created_at__lt=end)
    matching = matching.filter(page_path=path) if path else matching
    if after:
        matching = matching.filter(created_at__lte=after.at).exclude(created_at=after.at, pk__gte=after.pk)
    following = Message.objects.filter(thread=OuterRef("thread"), pk__gt=OuterRef("pk")).order_by("pk")
    matching = matching.annotate(following=Subquery(following.values("pk")[:1])).order_by("-created_at", "-pk")
    with snapshot():
        questions = list(matching.select_related("thread").only(*_QUESTION_FIELDS)[:limit])
        turns = Message.objects.only("role", "content", "outcome", "sources", "cost")
        found = turns.in_bulk([question.following for question in questions if question.following])
    answers = {pk: turn for pk, turn in found.items() if turn.role == Message.Role.ASSISTANT}
    return [Exchange(question, answers.get(question.following)) for question in questions]


def load_conversation(project: Project, thread_id: str) -> tuple[Thread, list[Message]] | None:
    """Load a thread of the project with its messages, oldest first, by its id or a message's. None if there is none."""
    is_message = thread_id.startswith("msg_")
    with snapshot():
        threads = Thread.objects.filter(project=project)
        thread = threads.filter(**{"messages__message_id" if is_message else "thread_id": thread_id}).first()
        if thread is None:
            return None
        return thread, list(thread.messages.only("thread", "message_id", "role", "content", "created_at"))


def cites(project: Project, path: str) -> Q:
    """The condition that an answer cites a page. It reads the sources of all answers that it is asked about."""
    url = urls_of(project, [path])[path].partition("#")[0]  # as sources have it: the pages of one address count as one
    # As the databases write JSON. An international domain is not ASCII: only SQLite's text escapes it.
    entry = f'"url": {json.dumps(url, ensure_ascii=connection.vendor == "sqlite")}'
    return Q(GreaterThan(StrIndex(Cast("sources", TextField()), Value(entry)), 0))
