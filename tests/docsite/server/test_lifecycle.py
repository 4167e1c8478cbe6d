"""The start and the end of a process that serves."""

import pytest

from tests import scenarios
from tests.docsite.server import lifecycles


@pytest.mark.parametrize(
    "scenario",
    [
        lifecycles.the_end_stores_what_the_last_requests_recorded,
        lifecycles.a_server_announces_start_and_end,
        lifecycles.a_start_that_fails_is_announced,
        lifecycles.old_searches_are_forgotten_at_the_start,
    ],
)
def test_lifecycle(own_database, scenario):
    scenarios.run(scenario, own_database)
