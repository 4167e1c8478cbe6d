"""Opens the thread of a question, saves its answer while it streams, and deletes threads."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from assistant.answering.question import Question, Turn
from assistant.answering.record import Outcome
from assistant.conversations.chat_ids import record_chat_id
from assistant.models import Message, Thread
from assistant.spending.answer_budget import AnswerBudget
from assistant.spending.prices import Charge
from docsite.core import ids
from docsite.core.access.readers import decode_groups, encode_groups
from docsite.core.db import ANSWERS, in_db
from docsite.core.group_commit import GroupCommit
from docsite.core.sql import insert_rows, update_rows
from docsite.core.tenants.models import Project
from search.hits import Hit
from search.retrieval.index_state import find_reader_groups
from search.text.language import detect_language

logger = logging.getLogger(__name__)

_BROKEN_OFF = (Message.State.ABORTED, Message.State.ERROR, Message.State.INTERRUPTED)
MAX_TURNS = 40  # of a history
MAX_TITLE, MAX_VERSION, MAX_LANGUAGE, MAX_PATH = 80, 100, 35, 400  # characters
MAX_SAVES = 500  # of one transaction
MAX_WAITING_SAVES = 10_000


class _Budgeted:
    """A conversation whose answer uses the budget of its project."""

    budget: AnswerBudget

    async def reserve(self, most: Charge, sent: Charge) -> str:
        """Reserve the most that the whole answer may use. Returns why that is not possible; empty where it is."""
        if self.budget.covers(most):
            return ""
        reserving = asyncio.ensure_future(in_db(self.budget.reserve, ANSWERS)(most, sent))
        try:
            return await asyncio.shield(reserving)
        except DatabaseError as failure:  # locked, or its disk is full: quotes cost nothing
            logger.warning("Tokens of project %s could not be reserved: %s", self.budget.project.domain, failure)
            return "the budget of the project cannot be stored"
        except asyncio.CancelledError:
            await asyncio.wait([reserving])  # else the reservation would stay until it expires
            raise

    def record_use(self, outcome: Outcome) -> None:
        """Store what an answer has used so far. At its end charge the project, and free the rest of the reservation."""
        self.budget.record(outcome.charge, ended=outcome.state != "running")


@dataclass
class StoredConversation(_Budgeted):
    """A thread with its running answer, as `assistant.answering.record.Conversation` describes it."""

    project: Project
    thread_id: str
    message_id: str
    history: list[Turn]
    budget: AnswerBudget
    redacts_answer: bool = False  # something in its question was redacted, which it may repeat
    stored_hits: int = 0  # of the answer; they only become more

    async def save(self, outcome: Outcome) -> None:
        """Store the answer so far, and at its end charge its tokens to the project's day."""
        outcome = outcome.copy()  # the answer goes on meanwhile
        await asyncio.wrap_future(_saves.submit((self, outcome)))
        self.stored_hits = len(outcome.hits)

    def store(self, outcome: Outcome) -> None:
        """Write the answer and its tokens to the database, for `save`."""
        redact = self.project.redact if self.redacts_answer else str
        # An update: an answer that was deleted meanwhile stays deleted.
        columns = {**_describe_answer(outcome, redact), "updated_at": timezone.now()}
        if len(outcome.hits) > self.stored_hits:
            columns["hits"] = _describe_hits(outcome.hits)
        update_rows(Message, {"message_id": self.message_id}, columns)
        self.record_use(outcome)


@dataclass
class UnstoredConversation(_Budgeted):
    """A conversation without rows, for previews and golden questions. Only its tokens are charged."""

    project: Project
    thread_id: str = field(default_factory=ids.thread_id)
    message_id: str = field(default_factory=ids.message_id)
    history: Sequence[Turn] = ()

    def __post_init__(self) -> None:
        self.budget = AnswerBudget(self.project)

    async def save(self, outcome: Outcome) -> None:
        """Charge the tokens to the project's day when the answer has ended."""
        await in_db(self.record_use, ANSWERS)(outcome)


def _store(saves: list[tuple[StoredConversation, Outcome]]) -> list[None]:
    """Store answers in one transaction."""
    ordered = sorted(saves, key=lambda save: save[0].budget.lock_order(ended=save[1].state != "running"))
    with transaction.atomic():
        for conversation, outcome in ordered:
            conversation.store(outcome)
    return [None] * len(saves)


# Hundreds of answers may stream at once. Answers that are saved during a transaction share the next one.
_saves = GroupCommit(
    "answers", _store, delay=0, min_group_weight=1, max_group_weight=MAX_SAVES, capacity=MAX_WAITING_SAVES
)


def flush() -> None:
    """Store the waiting answers now. Blocks until they are stored or have failed."""
    _saves.flush()


def open_conversation(project: Project, question: Question) -> StoredConversation:
    """Store the question and a running answer, in the named thread if it is the reader's own.

    An id that is unknown, or of another project or fingerprint, starts a new thread without an error. So does that of
    a thread which was answered for groups that the reader does not have (now). The tokens of the answer count for the
    address of its asker.
    """
    groups, asker = find_reader_groups(project), question.asker
    redacted = replace(question, text=project.redact(question.text))
    with transaction.atomic():
        thread = _lock_own_thread(project, asker.fp, question.thread_id).first() if question.thread_id else None
        if thread and not groups.issuperset(decode_groups(thread.groups)):
            thread = None
        is_known = thread is not None
        if thread is None:
            thread = Thread(project=project, fp=asker.fp, title=make_title(redacted.text))
            insert_rows([thread])
        if not groups.issubset(decode_groups(thread.groups)):
            thread.groups = encode_groups(sorted(groups))
            thread.save(update_fields=["groups"])
        if asker.chat_id:
            record_chat_id(thread, asker.chat_id)
        stored = _reopen_question(thread, redacted) if question.replaces and is_known else None
        history = _load_history(thread, stored) if is_known else []
        common: dict[str, Any] = {"project": project, "thread": thread, **_describe(redacted)}
        running = {"state": Message.State.RUNNING, "outcome": Message.Outcome.RUNNING}
        answer = Message(role=Message.Role.ASSISTANT, **running, **common)
        messages = [] if stored else [Message(role=Message.Role.USER, content=redacted.text, **common)]
        insert_rows([*messages, answer])
    budget, is_redacted = AnswerBudget(project, asker.network), redacted.text != question.text
    return StoredConversation(project, thread.thread_id, answer.message_id, history, budget, is_redacted)


def _describe(question: Question) -> dict[str, Any]:
    """The columns that a question and its answer share. Of the context, only its shape is stored."""
    return {
        "caller": question.caller,
        "agent": question.agent,
        "page_path": question.current_path,
        "language": detect_language(question.text),
        "filter_version": (question.filters.version or "")[:MAX_VERSION],
        "filter_language": (question.filters.language or "")[:MAX_LANGUAGE],
        "context": [
            {"type": selection.type, "path": selection.path[:MAX_PATH], "characters": len(selection.value)}
            for selection in question.context
        ],
    }


def build_messages(thread: Thread, question: Question, outcome: Outcome) -> list[Message]:
    """A question and its complete answer as rows, which are not stored yet."""
    common: dict[str, Any] = {"project": thread.project, "thread": thread, **_describe(question)}
    columns = {**_describe_answer(outcome), "hits": _describe_hits(outcome.hits), **common}
    asked = Message(role=Message.Role.USER, content=question.text, **common)
    return [asked, Message(role=Message.Role.ASSISTANT, **columns)]


def _describe_answer(outcome: Outcome, redact: Callable[[str], str] = str) -> dict[str, Any]:
    """The columns of an answer, without its hits: they do not change while it streams, and are most of it."""
    return {
        "content": redact(outcome.text),
        "state": outcome.state,
        "outcome": outcome.kind,
        "cut_by": outcome.cut_by,
        "model": outcome.model,
        "rung": outcome.rung,
        "reason": outcome.reason[:200],
        "steps": outcome.steps,
        "sources": [{"title": source.title, "url": source.url} for source in outcome.sources],
        "checks": [{**check, "written": redact(check["written"])} for check in outcome.checks],
        "chance": outcome.chance,
        "prompt_tokens": outcome.usage.prompt_tokens,
        "completion_tokens": outcome.usage.completion_tokens,
        "cost": None if outcome.charge.unpriced_tokens else outcome.charge.cost,
        "first_token_ms": outcome.first_token_ms,
        "total_ms": outcome.total_ms,
    }


def _describe_hits(hits: Iterable[Hit]) -> list[dict[str, Any]]:
    """The column `hits` of an answer."""
    return [{"path": hit.path, "anchor": hit.anchor, "score": hit.score, "digest": hit.digest} for hit in hits]


def _lock_own_thread(project: Project, fp: str, thread_id: str) -> QuerySet[Thread]:
    """Lock a reader's thread, so that asking and deleting at once happen one after the other."""
    return Thread.objects.select_for_update().filter(project=project, fp=fp, thread_id=thread_id)


def make_title(question: str) -> str:
    """Cut the beginning of a question to one line, between words if it has any."""
    line = " ".join(question.split())
    if len(line) <= MAX_TITLE:
        return line
    cut = line[: MAX_TITLE - 1]
    words = cut.rpartition(" ")[0]
    return (words if len(words) > MAX_TITLE // 2 else cut) + "…"


def _reopen_question(thread: Thread, question: Question) -> Message | None:
    """Find the stored question that is asked again, and delete the messages after it. None if the thread has none."""
    questions = thread.messages.filter(role=Message.Role.USER).order_by("-pk")
    named = thread.messages.filter(message_id=question.message_id).first() if question.message_id else None
    if named is not None:
        stored = questions.filter(pk__lte=named.pk).first()
    else:  # clients choose the ids of questions, so a question is found by its text
        stored = questions.filter(content=question.text).first() or questions.first()
    if stored is None:
        return None
    thread.messages.filter(pk__gt=stored.pk).delete()
    if stored.content != question.text:
        stored.content, stored.language = question.text, detect_language(question.text)
        stored.save(update_fields=["content", "language", "updated_at"])
    return stored


def _load_history(thread: Thread, until: Message | None) -> list[Turn]:
    turns = thread.messages.exclude(content="").order_by("-pk")
    if until is not None:
        turns = turns.filter(pk__lt=until.pk)
    latest = turns.values_list("role", "content", "state", "outcome")[:MAX_TURNS]
    return [
        Turn(
            cast(Literal["user", "assistant"], role),
            content,
            state in _BROKEN_OFF or outcome == Message.Outcome.CUT,
        )
        for role, content, state, outcome in reversed(latest)
    ]


def delete_thread(project: Project, fp: str, thread_id: str) -> list[str]:
    """Delete a reader's conversation if it exists. Returns the ids of its latest answers."""
    with transaction.atomic():
        thread = _lock_own_thread(project, fp, thread_id).first()
        if thread is None:
            return []
        latest = thread.messages.filter(role=Message.Role.ASSISTANT).order_by("-pk")
        message_ids = list(latest.values_list("message_id", flat=True)[:MAX_TURNS])
        thread.delete()
    return message_ids


def mark_orphans(answer: int | None = None) -> int:
    """Mark answers, or one, as interrupted that an earlier process left running. Returns their number.

    An answer that another process is still writing becomes `running` again with its next save.
    """
    running = Message.objects.filter(state=Message.State.RUNNING)
    return (running if answer is None else running.filter(pk=answer)).update(
        state=Message.State.INTERRUPTED, outcome=Message.Outcome.CUT, cut_by=Message.CutBy.SERVICE
    )
