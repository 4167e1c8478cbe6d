"""How many rows `movedatabase` carries at once. `tests/services/test_move_database.py` moves a whole database."""

from analytics.models import ViewKeys
from docsite.server.move import copying


def test_a_step_is_bounded_in_bytes_too(make_project, monkeypatch):
    project = make_project().project
    rows = ViewKeys.objects.order_by("pk").filter(project=project)
    ViewKeys.objects.bulk_create(ViewKeys(project=project, day=0, keys=bytes(size)) for size in (0, 800, 800, 800, 8))
    named = rows.values_list("id", "keys")
    assert copying.count_rows(named, ["keys"]) == copying.STEP_ROWS
    monkeypatch.setattr(copying, "STEP_BYTES", 1000)
    assert copying.count_rows(named, ["keys"]) == 3
    assert copying.count_rows(named.filter(pk__gt=named[2][0]), ["keys"]) == copying.STEP_ROWS
    monkeypatch.setattr(copying, "STEP_BYTES", 100)
    assert copying.count_rows(named, ["keys"]) == 2
    assert copying.count_rows(named.values_list("id"), []) == copying.STEP_ROWS
