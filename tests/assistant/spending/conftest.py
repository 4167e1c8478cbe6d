import pytest
from django.conf import settings


@pytest.fixture
def limits(monkeypatch):
    """Set the operator's limits and prices."""

    def set_limits(**changed):
        monkeypatch.setattr(settings, "ENV", settings.ENV.model_copy(update=changed))

    return set_limits


@pytest.fixture
def tenant(make_project):
    return make_project().project
