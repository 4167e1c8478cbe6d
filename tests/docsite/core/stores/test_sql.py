"""Rows in plain SQL are those that the ORM writes. On PostgreSQL, tests/services ask questions that are stored so."""

from assistant.models import Message, Thread
from docsite.core.sql import insert_rows, update_rows

FACTS = {"role": "user", "content": "Why “ü”? 100 %", "steps": [{"rung": "model"}], "context": None, "chance": 0.25}


def test_new_rows_are_those_of_the_orm(make_project):
    project = make_project().project
    thread = Thread(project=project, fp="reader-1", title="Why?")
    insert_rows([thread])
    assert Thread.objects.get(fp="reader-1", project=project) == thread
    messages = [Message(project=project, thread=thread, **FACTS), Message(thread=thread, role="assistant")]
    insert_rows(messages)
    by_orm = [Message.objects.create(project=project, thread=thread, **FACTS)]
    by_orm.append(Message.objects.create(thread=thread, role="assistant"))
    for ours, its in zip(messages, by_orm, strict=True):
        assert facts_of(ours.pk) == facts_of(its.pk)
        assert Message.objects.get(message_id=ours.message_id) == ours


def facts_of(pk: int) -> dict:
    """The columns of a message, except for those that no two have in common."""
    stored = Message.objects.values().get(pk=pk)
    assert stored["updated_at"] >= stored["created_at"]
    return {
        name: value for name, value in stored.items() if name not in ("id", "message_id", "created_at", "updated_at")
    }


def test_only_the_named_fields_of_the_named_row_change(make_project):
    project = make_project().project
    thread = Thread.objects.create(project=project, fp="reader-1")
    changed, other = (Message.objects.create(project=project, thread=thread, **FACTS) for _ in range(2))
    before = facts_of(other.pk)
    update_rows(Message, {"message_id": changed.message_id}, {"steps": [1, {"a": "ü"}], "chance": None, "cost": 2**40})
    assert facts_of(changed.pk) == before | {"steps": [1, {"a": "ü"}], "chance": None, "cost": 2**40}
    assert facts_of(other.pk) == before
    update_rows(Message, {"message_id": "msg_unknown"}, {"content": "nothing"})
    assert Message.objects.filter(thread=thread).count() == 2
