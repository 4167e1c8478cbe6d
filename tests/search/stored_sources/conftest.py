"""Fixtures for stored sources."""

import pytest

from tests.search.stored_sources.stored_source import nothing_due


@pytest.fixture
def clock():
    """A clock in the far future, where no source is due."""
    with nothing_due() as traveller:
        yield traveller


@pytest.fixture
def tenant(make_project):
    return make_project()
