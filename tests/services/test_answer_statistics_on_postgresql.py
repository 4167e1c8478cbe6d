"""Checks that other tests run on SQLite, on PostgreSQL: answer statistics, costs, groups, deletions, dead ends."""

import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from tests import scenarios
from tests.assistant.conversations.test_answer_statistics import compare_with_rows
from tests.assistant.improving.gaps.reports import check_reports
from tests.assistant.spending.test_costs import check_costs
from tests.docsite.core.stores.test_deleted_project import delete_while_a_reader_asks
from tests.docsite.extras.test_dead_ends import add_up_requests

pytestmark = pytest.mark.services


@pytest.mark.matrix
def test_statistics_and_outcomes_are_those_of_the_rows_on_postgresql(
    new_database: Callable[[str], dict[str, str]],
) -> None:
    database = new_database("statistics")
    scenarios.run(compare_with_rows, database)
    scenarios.run(check_reports, database)
    scenarios.run(check_costs, database)


def delete_while_questions_are_grouped() -> None:
    """Delete a conversation; its answer comes into a group after Django has deleted what belongs to it."""
    from django.db.models.sql import DeleteQuery

    from assistant.answering.question import Asker, Question
    from assistant.conversations.threads import delete_thread, open_conversation
    from assistant.improving.question_groups import grouping
    from assistant.models import GroupedQuestion, Message
    from docsite.core.tenants.management.commands.createproject import create_project

    project, *_ = create_project("grouped-late", "Grouped late", "https://docs.acme.example", [])
    conversation = open_conversation(
        project, Question("How do I install it?", Asker(fp="reader-1"), Message.Caller.API)
    )
    Message.objects.filter(message_id=conversation.message_id).update(state="done", outcome="answered")
    delete = DeleteQuery.delete_batch

    def group_and_delete(query: DeleteQuery, *arguments: Any) -> Any:
        if query.model is Message:
            other = threading.Thread(target=grouping.catch_up)
            other.start()
            other.join()
            assert GroupedQuestion.objects.count() == 1
        return delete(query, *arguments)

    with patch.object(DeleteQuery, "delete_batch", group_and_delete):
        assert delete_thread(project, "reader-1", conversation.thread_id) == [conversation.message_id]
    assert not Message.objects.exists()
    assert not GroupedQuestion.objects.exists()


def test_a_question_that_is_grouped_while_it_is_deleted_is_deleted(
    new_database: Callable[[str], dict[str, str]],
) -> None:
    scenarios.run(delete_while_questions_are_grouped, new_database("grouped_late"))


@pytest.mark.matrix
def test_a_project_is_deleted_on_postgresql_while_a_reader_asks(new_database: Callable[[str], dict[str, str]]) -> None:
    scenarios.run(delete_while_a_reader_asks, new_database("deleted"))


@pytest.mark.matrix
def test_addresses_without_a_page_are_added_up_on_postgresql(new_database: Callable[[str], dict[str, str]]) -> None:
    scenarios.run(add_up_requests, new_database("dead_ends"))
