"""A project that is deleted on PostgreSQL while its readers ask."""

from collections.abc import Callable

import pytest

from tests import scenarios
from tests.docsite.core.test_deleted_project import delete_while_a_reader_asks

pytestmark = pytest.mark.services


def test_a_project_is_deleted_on_postgresql_while_a_reader_asks(new_database: Callable[[str], dict[str, str]]) -> None:
    scenarios.run(delete_while_a_reader_asks, new_database("deleted"))
