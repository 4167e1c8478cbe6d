"""Questions of readers with their answers, as the pipeline stores them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from tests.conftest import Tenant, wait_for

AddAnswer = Callable[..., Any]


@pytest.fixture
def add_answer(project: Tenant) -> AddAnswer:
    """Store a question of a reader with an answer of an outcome. Returns the answer."""
    return lambda text, outcome="refused", **facts: store_answer(project.project, text, outcome, **facts)


@transaction.atomic  # a service of another test could group the answer before it is complete
def store_answer(project: Any, text: str, outcome: str = "refused", **facts: Any) -> Any:
    """Store a question and its answer."""
    from assistant.answering.question import Asker, Question
    from assistant.conversations.threads import open_conversation
    from assistant.models import Message

    caller = Message.Caller(facts.pop("caller", "web"))
    asker, path = Asker(fp=facts.pop("fp", "reader")), facts.pop("page_path", "")
    question = Question(text, asker, caller, thread_id=facts.pop("thread", None), current_path=path)
    conversation = open_conversation(project, question)
    state = {"cut": "aborted", "failed": "error", "running": "running"}.get(outcome, "done")
    answer = Message.objects.get(message_id=conversation.message_id)
    sources = [{"title": "Installing acme", "url": "https://docs.acme.example/install"}]
    has_sources = outcome in ("answered", "closest_passages")
    values = {"outcome": outcome, "state": state, "sources": sources if has_sources else [], "rung": "extractive"}
    at = facts.pop("at", None)
    Message.objects.filter(pk=answer.pk).update(**{**values, **facts})
    if at:
        answer.thread.messages.filter(pk__gte=answer.pk - 1).update(created_at=at)
    answer.refresh_from_db()
    return answer


def skip_earlier() -> None:
    """Leave out what other tests have stored: an answer that runs, or a recent search, is waited for."""
    from django.db.models import Max

    from assistant.models import GroupingProgress, Message
    from search.models import SearchQuery

    newest = {"answer": Message, "search": SearchQuery}
    reached = {name: model.objects.aggregate(last=Max("pk"))["last"] or 0 for name, model in newest.items()}
    GroupingProgress.objects.update_or_create(pk=1, defaults=reached)


def ask_fixed(group: Any) -> None:
    """Ask what is fixed about the present index. Waits for the outcome, since a service of another test may ask."""
    from assistant.improving.gaps import asking_again
    from search.models import Generation

    def is_asked() -> bool:
        asking_again.ask_due()
        group.refresh_from_db()
        generation = Generation.objects.filter(project=group.project_id).values_list("number", flat=True).first()
        return not group.holder and (group.state != group.State.FIXED or group.asked_generation == generation)

    wait_for(is_asked, "the question to be asked")
