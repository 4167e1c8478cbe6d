"""An organization moves to another database and back, with all its rows, its ids and its counts."""

import json
from pathlib import Path

import pytest

from tests import scenarios
from tests.docsite.server.placement import tenants

RANGE = 1 << 40


@pytest.fixture(scope="module")
def databases(tmp_path_factory, copy_database) -> tuple[dict[str, str], dict[str, str]]:
    """The first deployment, with the organizations Moved and Other, and a second one."""
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    first, second = map(copy_database, folders)
    page = folders[0] / "docs" / "one.md"
    page.parent.mkdir()
    page.write_text(tenants.PAGE)
    for name in ("moved", "other"):
        scenarios.manage(
            ("createproject", name, "--organization", name.title(), "--docs-url", f"https://{name}.example"), first
        )
    scenarios.manage(("ingest", "moved", str(page.parent)), first)
    printed = scenarios.manage(("adddeployment", "second", "--address", "10.0.0.12:8000"), {**first, **to(second)})
    assert "SECRET_KEY" in printed
    return first, second


def to(database: dict[str, str]) -> dict[str, str]:
    """The environment that names a database as the other one."""
    return {"NEW_DATABASE_URL": database["DATABASE_URL"] or f"sqlite:///{Path(database['DATA_DIR'], 'db.sqlite3')}"}


def dump(database: dict[str, str]) -> dict[str, list[dict[str, object]]]:
    return json.loads(scenarios.run(tenants.dump, database, "moved"))


def print_ids(database: dict[str, str]) -> tuple[list[int], list[int]]:
    return json.loads(scenarios.run(tenants.print_ids, database, "moved"))


def test_there_and_back(databases) -> None:
    first, second = databases
    scenarios.run(tenants.view, first, "moved")
    scenarios.run(tenants.fill, first, "moved")
    print_ids(first)
    before, visitors = dump(first), scenarios.manage(("exportvisitors", "moved"), first)
    printed = scenarios.manage(("moveorganization", "Moved", "second"), {**first, **to(second)})
    assert "counted in both databases" in printed
    assert dump(second) == before
    assert "refused" in scenarios.run(tenants.refuse_all, first, "moved")
    scenarios.run(tenants.view, first, "other")
    assert scenarios.manage(("exportvisitors", "moved"), second) == visitors
    assert "One" in scenarios.manage(("search", "moved", "enough to be found"), second)
    lines = scenarios.manage(("nginxmap",), first).splitlines()
    assert len(lines) == 2
    assert lines[0] == "moved 10.0.0.12:8000;"
    scenarios.manage(("moveorganization", "Moved", "--remove"), first)
    assert {name for name, rows in dump(first).items() if rows} == {"projects.Organization", "projects.Project"}
    scenarios.run(tenants.view, second, "moved", "2", "10")
    ids, sealed = print_ids(second)
    assert [number // RANGE for number in ids] == [0, 0, 0, 1, 1]
    assert sealed == [max(ids)]
    before, visitors = dump(second), scenarios.manage(("exportvisitors", "moved"), second)
    scenarios.manage(("moveorganization", "Moved", "first"), {**second, **to(first)})
    assert dump(first) == before
    assert scenarios.manage(("exportvisitors", "moved"), first) == visitors
    assert scenarios.manage(("nginxmap",), first) == ""
    scenarios.run(tenants.view, first, "moved", "1", "20")
    ids, sealed = print_ids(first)
    assert [number // RANGE for number in ids] == [0, 0, 0, 1, 1, 2]
    assert sealed == [max(ids)]
