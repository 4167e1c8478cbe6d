"""Conversations in the database: opened for a question, saved while the answer streams, forgotten on demand."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any, Literal, cast

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from assistant.answering.pipeline import Outcome
from assistant.models import ChatId, Message, Thread, TokenUse
from assistant.question import Turn
from docsite.core import ids
from docsite.core.db import in_db
from docsite.core.group_commit import GroupCommit
from docsite.core.tenants.models import Project

_BROKEN_OFF = (Message.State.ABORTED, Message.State.ERROR, Message.State.INTERRUPTED)
MOST_TURNS = 40
LONGEST_TITLE = 80
MAX_SAVES = 500  # of one transaction
MAX_WAITING_SAVES = 10_000


@dataclass(frozen=True)
class Asked:
    """A question to be stored. `replaces` asks for the last answer anew, or for the one of `message_id`."""

    fp: str
    text: str
    caller: Message.Caller
    thread_id: str | None = None
    page_path: str = ""
    chat_id: str = ""
    replaces: bool = False
    message_id: str | None = None


@dataclass
class StoredConversation:
    """A thread with its running answer. See `assistant.answering.pipeline.Conversation`."""

    project: Project
    thread_id: str
    message_id: str
    history: list[Turn]
    charged: int = 0

    async def save(self, outcome: Outcome) -> None:
        """Store the answer as it stands, and charge its tokens to the project's day."""
        await asyncio.wrap_future(_saves.submit((self, outcome)))

    def store(self, outcome: Outcome) -> None:
        """What `save` does in the database."""
        # An answer that was deleted meanwhile stays deleted.
        Message.objects.filter(message_id=self.message_id).update(
            content=outcome.text,
            state=outcome.state,
            rung=outcome.rung,
            reason=outcome.reason[:200],
            steps=outcome.steps,
            sources=[{"title": source.title, "url": source.url} for source in outcome.sources],
            checks=outcome.checks,
            hits=[{"path": hit.path, "anchor": hit.anchor, "score": hit.score} for hit in outcome.hits],
            prompt_tokens=outcome.usage.prompt_tokens,
            completion_tokens=outcome.usage.completion_tokens,
            updated_at=timezone.now(),
        )
        spent = outcome.spent
        if spent != self.charged:
            charge(self.project, spent - self.charged)
            self.charged = spent


@dataclass
class UnstoredConversation:
    """One that leaves nothing but its costs, for tries. See `assistant.answering.pipeline.Conversation`."""

    project: Project
    thread_id: str = field(default_factory=ids.thread_id)
    message_id: str = field(default_factory=ids.message_id)
    history: Sequence[Turn] = ()
    charged: int = 0

    async def save(self, outcome: Outcome) -> None:
        """Charge the tokens to the project's day."""
        spent = outcome.spent
        if spent != self.charged:
            await in_db(charge)(self.project, spent - self.charged)
            self.charged = spent


def _store(saves: list[tuple[StoredConversation, Outcome]]) -> list[None]:
    """Store answers in one transaction."""
    charged = [conversation.charged for conversation, _ in saves]
    try:
        with transaction.atomic():
            # In the order of the projects: two processes that lock their rows of TokenUse cannot deadlock.
            for conversation, outcome in sorted(saves, key=lambda save: save[0].project.pk):
                conversation.store(outcome)
    except Exception:
        for (conversation, _), before in zip(saves, charged, strict=True):
            conversation.charged = before
        raise
    return [None] * len(saves)


# Hundreds of answers may stream at once: those that are saved meanwhile share the next transaction.
_saves = GroupCommit("answers", _store, delay=0, enough=1, largest=MAX_SAVES, capacity=MAX_WAITING_SAVES)


def flush() -> None:
    """Return when the answers that wait here are stored, or could not be."""
    _saves.flush()


def open_conversation(project: Project, asked: Asked) -> StoredConversation:
    """Store the question and a running answer, in the thread of that id if it is the reader's own.

    An id that is unknown, of another project or of another fp starts a new
    thread, without saying so.
    """
    with transaction.atomic():
        thread = _own(project, asked.fp, asked.thread_id).first() if asked.thread_id else None
        known = thread is not None
        thread = thread or Thread.objects.create(project=project, fp=asked.fp, title=_title(asked.text))
        if asked.chat_id:
            _note_chat(project, asked.chat_id, asked.fp)
        question = _question_again(thread, asked) if asked.replaces and known else None
        history = _history(thread, question) if known else []
        common: dict[str, Any] = {"thread": thread, "caller": asked.caller, "page_path": asked.page_path}
        answer = Message(role=Message.Role.ASSISTANT, state=Message.State.RUNNING, **common)
        messages = [] if question else [Message(role=Message.Role.USER, content=asked.text, **common)]
        Message.objects.bulk_create([*messages, answer])
    return StoredConversation(project, thread.thread_id, answer.message_id, history)


def _own(project: Project, fp: str, thread_id: str) -> QuerySet[Thread]:
    """A reader's thread, locked: one who asks and forgets at once does one after the other."""
    return Thread.objects.select_for_update().filter(project=project, fp=fp, thread_id=thread_id)


def _title(question: str) -> str:
    """The question's beginning in one line, cut between words where it has any."""
    line = " ".join(question.split())
    if len(line) <= LONGEST_TITLE:
        return line
    cut = line[: LONGEST_TITLE - 1]
    words = cut.rpartition(" ")[0]
    return (words if len(words) > LONGEST_TITLE // 2 else cut) + "…"


def _question_again(thread: Thread, asked: Asked) -> Message | None:
    """The stored question that is asked again, with nothing after it; None when the thread has none."""
    questions = thread.messages.filter(role=Message.Role.USER).order_by("-pk")
    named = thread.messages.filter(message_id=asked.message_id).first() if asked.message_id else None
    if named is not None:
        question = questions.filter(pk__lte=named.pk).first()
    else:  # clients name their questions themselves; a question is known by its words
        question = questions.filter(content=asked.text).first() or questions.first()
    if question is None:
        return None
    thread.messages.filter(pk__gt=question.pk).delete()
    if question.content != asked.text:
        question.content = asked.text
        question.save(update_fields=["content", "updated_at"])
    return question


def _history(thread: Thread, until: Message | None) -> list[Turn]:
    turns = thread.messages.exclude(content="").order_by("-pk")
    if until is not None:
        turns = turns.filter(pk__lt=until.pk)
    latest = turns.values_list("role", "content", "state")[:MOST_TURNS]
    return [
        Turn(cast(Literal["user", "assistant"], role), content, state in _BROKEN_OFF)
        for role, content, state in reversed(latest)
    ]


def charge(project: Project, tokens: int) -> None:
    """Add to the tokens that the project used today; less than nothing gives some back."""
    use, _ = TokenUse.objects.get_or_create(project=project, day=_today())
    TokenUse.objects.filter(pk=use.pk).update(tokens=F("tokens") + tokens)


def tokens_used(project: Project) -> int:
    """Tokens that the project used today."""
    return TokenUse.objects.filter(project=project, day=_today()).values_list("tokens", flat=True).first() or 0


def _today() -> date:
    return datetime.now(UTC).date()


def forget(project: Project, fp: str, thread_id: str) -> list[str]:
    """Delete a reader's conversation, if there is one. Returns the ids of its latest answers."""
    with transaction.atomic():
        thread = _own(project, fp, thread_id).first()
        if thread is None:
            return []
        latest = thread.messages.filter(role=Message.Role.ASSISTANT).order_by("-pk")
        message_ids = list(latest.values_list("message_id", flat=True)[:MOST_TURNS])
        thread.delete()
    return message_ids


def _note_chat(project: Project, chat_id: str, fp: str) -> None:
    mine = ChatId(
        project=project,
        digest=sha256(chat_id.encode()).hexdigest(),
        fp_digest=sha256(f"{chat_id}\0{fp}".encode()).hexdigest(),
    )
    ChatId.objects.bulk_create([mine], ignore_conflicts=True)
    first = ChatId.objects.filter(project=project, digest=mine.digest)
    first.exclude(fp_digest=mine.fp_digest).update(is_shared=True)


def shares_chat(project_id: int, chat_id: str) -> bool:
    """Whether more than one fp used that chat id. Then nobody can tell whose it is."""
    digest = sha256(chat_id.encode()).hexdigest()
    return ChatId.objects.filter(project=project_id, digest=digest, is_shared=True).exists()


def mark_orphans() -> int:
    """Call answers interrupted that a former process left running. Returns how many; for start-up.

    An answer that another process is still writing says so again with its next save.
    """
    return Message.objects.filter(state=Message.State.RUNNING).update(state=Message.State.INTERRUPTED)
