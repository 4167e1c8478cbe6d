"""The log has one line when a model server fails and one when it works again."""

import pytest

from assistant.upstream import Model
from assistant.upstream.breaker import breaker_of
from docsite.core import availability


def test_a_change_of_a_model_is_one_line(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "QUIET_SECONDS", 0)
    breaker = breaker_of(Model("http://model.example/v1", "acme-1", "sk-secret"))
    for _ in range(7):
        breaker.record_failure(30, "the connection was refused")
    for _ in range(2):
        breaker.record_success()
    assert [record.getMessage() for record in caplog.records] == [
        "The model acme-1 at http://model.example/v1 does not work: the connection was refused. "
        "The next line follows when it works again.",
        "The model acme-1 at http://model.example/v1 works again, after 0 seconds.",
    ]
