"""Outcomes, statistics, costs and groups of questions on PostgreSQL: the same as on SQLite."""

import pytest

from tests import scenarios
from tests.assistant.conversations.test_answer_statistics import compare_with_rows
from tests.assistant.conversations.test_costs import check_costs
from tests.assistant.conversations.test_outcomes import fill_old_rows
from tests.assistant.gaps.reports import check_reports

pytestmark = pytest.mark.services


def test_statistics_and_outcomes_are_those_of_the_rows_on_postgresql(postgres: str) -> None:
    database = scenarios.migrate({"DATABASE_URL": postgres})
    scenarios.run(compare_with_rows, database)
    scenarios.run(fill_old_rows, database)
    scenarios.run(check_reports, database)
    scenarios.run(check_costs, database)
