"""Statistics of answers on PostgreSQL: the same as on SQLite, since both equal the rows."""

import pytest

from tests import scenarios
from tests.assistant.conversations.test_answer_statistics import compare_with_rows

pytestmark = pytest.mark.services


def test_statistics_are_those_of_the_rows_on_postgresql(postgres: str) -> None:
    scenarios.run(compare_with_rows, scenarios.migrate({"DATABASE_URL": postgres}))
