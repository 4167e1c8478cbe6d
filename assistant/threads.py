"""Conversations in the database: opened for a question, saved while the answer streams."""

from dataclasses import dataclass
from typing import Literal, cast

from django.db import transaction

from assistant.answering import Outcome
from assistant.models import Message, Thread
from assistant.prompts import Turn
from docsite.db import in_db
from docsite.projects.models import Project

MOST_TURNS = 40


@dataclass
class StoredConversation:
    """A thread with its running answer. See `assistant.answering.Conversation`."""

    thread_id: str
    message_id: str
    history: list[Turn]
    answer: Message

    async def save(self, outcome: Outcome) -> None:
        """Store the answer as it stands."""
        await in_db(self._save)(outcome)

    def _save(self, outcome: Outcome) -> None:
        answer = self.answer
        answer.content, answer.state = outcome.text, outcome.state
        answer.rung, answer.reason = outcome.rung, outcome.reason[:200]
        answer.sources = [{"title": source.title, "url": source.url} for source in outcome.sources]
        answer.hits = [{"path": hit.path, "anchor": hit.anchor, "score": hit.score} for hit in outcome.hits]
        answer.prompt_tokens = outcome.usage.prompt_tokens
        answer.completion_tokens = outcome.usage.completion_tokens
        answer.save(
            update_fields=[
                *("content", "state", "rung", "reason", "sources", "hits"),
                *("prompt_tokens", "completion_tokens", "updated_at"),
            ]
        )


def open_conversation(
    project: Project, fp: str, thread_id: str | None, text: str, caller: Message.Caller, page_path: str
) -> StoredConversation:
    """Store the question and a running answer, in the thread of that id if it is the reader's own.

    An id that is unknown, of another project or of another fp starts a new
    thread, without saying so.
    """
    with transaction.atomic():
        thread = Thread.objects.filter(project=project, fp=fp, thread_id=thread_id).first() if thread_id else None
        history = _history(thread) if thread else []
        thread = thread or Thread.objects.create(project=project, fp=fp)
        Message.objects.create(thread=thread, role=Message.Role.USER, content=text, caller=caller, page_path=page_path)
        answer = Message.objects.create(
            thread=thread,
            role=Message.Role.ASSISTANT,
            state=Message.State.RUNNING,
            caller=caller,
            page_path=page_path,
        )
    return StoredConversation(thread.thread_id, answer.message_id, history, answer)


def _history(thread: Thread) -> list[Turn]:
    latest = thread.messages.exclude(content="").order_by("-pk").values_list("role", "content")[:MOST_TURNS]
    return [Turn(cast(Literal["user", "assistant"], role), content) for role, content in reversed(latest)]


def mark_orphans() -> int:
    """Call answers interrupted that a former process left running. Returns how many; for start-up.

    An answer that another process is still writing says so again with its next save.
    """
    return Message.objects.filter(state=Message.State.RUNNING).update(state=Message.State.INTERRUPTED)
