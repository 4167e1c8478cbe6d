import pytest


@pytest.fixture
def tenant(make_project):
    return make_project().project
