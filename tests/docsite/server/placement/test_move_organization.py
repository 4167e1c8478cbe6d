"""An organization moves to another database and back, with all its rows, its ids and its counts."""

import json
import os
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests import scenarios
from tests.docsite.server.placement import tenants

RANGE = 1 << 40


@pytest.fixture(scope="module")
def databases(tmp_path_factory, copy_database) -> tuple[dict[str, str], dict[str, str]]:
    """The first deployment, with the organizations Moved and Other, and a second one."""
    first, second = (copy_database(tmp_path_factory.mktemp(name)) for name in ("first", "second"))
    make_deployments(first, second, tmp_path_factory.mktemp("docs"))
    return first, second


def make_deployments(first: dict[str, str], second: dict[str, str], folder: Path) -> None:
    """Make the tenants in the first database, and the deployment of the second one."""
    page = folder / "one.md"
    page.write_text(tenants.PAGE)
    for name in ("moved", "other"):
        scenarios.manage(
            ("createproject", name, "--organization", name.title(), "--docs-url", f"https://{name}.example"), first
        )
    scenarios.manage(("ingest", "moved", str(page.parent)), first)
    printed = scenarios.manage(("adddeployment", "second", "--address", "10.0.0.12:8000"), {**first, **to(second)})
    assert "SECRET_KEY" in printed


def to(database: dict[str, str]) -> dict[str, str]:
    """The environment that names a database as the other one."""
    return {"NEW_DATABASE_URL": database["DATABASE_URL"] or f"sqlite:///{Path(database['DATA_DIR'], 'db.sqlite3')}"}


def dump(database: dict[str, str]) -> dict[str, list[dict[str, object]]]:
    return json.loads(scenarios.run(tenants.dump, database, "moved"))


def print_ids(database: dict[str, str]) -> tuple[list[int], list[int]]:
    return json.loads(scenarios.run(tenants.print_ids, database, "moved"))


def test_there_and_back(databases) -> None:
    go_there_and_back(*databases)


def go_there_and_back(first: dict[str, str], second: dict[str, str]) -> None:
    """Move the organization to the second database and back."""
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


def die_after(step: str, url: str, name_of_tenant: str = "Moved") -> None:
    """Move, and die at once after a step, as by kill -9."""
    from django.core.management import call_command

    os.environ["NEW_DATABASE_URL"] = url
    holder, _, name = step.rpartition(".")
    place = resolve_name(f"docsite.server.placement.{holder}")
    original = getattr(place, name)

    def run(*arguments: object, **options: object) -> None:
        original(*arguments, **options)
        os._exit(0)

    setattr(place, name, run)
    call_command("moveorganization", name_of_tenant, "second")
    raise AssertionError(f"{step} was not called")


STEPS = (
    *("move.raise_range", "move._create", "move.users.match", "copying.Copying.copy", "settling._set_state"),
    *("settling.seal_project", "settling.grouping.catch_up", "settling.settle", "copying.Copying.update_projects"),
    *("copying.Copying._store", "copying.Copying._store", "copying.compare", "move._arrive", "move._switch"),
)


@pytest.mark.matrix
def test_it_goes_on_after_a_death_at_any_step(tmp_path, copy_database) -> None:
    folders = [tmp_path / name for name in ("first", "second", "docs")]
    for folder in folders:
        folder.mkdir()
    first, second = map(copy_database, folders[:2])
    make_deployments(first, second, folders[2])
    scenarios.run(tenants.view, first, "moved")
    scenarios.run(tenants.fill, first, "moved")
    print_ids(first)
    before = dump(first)
    for step in STEPS:
        scenarios.run(die_after, first, step, to(second)["NEW_DATABASE_URL"])
    scenarios.manage(("moveorganization", "Moved", "second"), {**first, **to(second)})
    assert dump(second) == before
    scenarios.run(tenants.view, second, "moved", "1", "9")
    ids, _ = print_ids(second)
    assert [number // RANGE for number in ids] == [0, 0, 0, 1]


@pytest.mark.matrix
def test_a_move_that_is_given_up_leaves_nothing_there(databases) -> None:
    first, second = databases
    url = to(second)["NEW_DATABASE_URL"]
    scenarios.run(die_after, first, "copying.Copying.update_projects", url, "Other")
    scenarios.manage(("moveorganization", "Other", "--cancel"), {**first, **to(second)})
    scenarios.run(tenants.view, first, "other")
    assert scenarios.query(second, "SELECT count(*) FROM projects_project WHERE domain = 'other'") == [(0,)]
    scenarios.manage(("moveorganization", "Other", "second"), {**first, **to(second)})
    assert scenarios.query(second, "SELECT count(*) FROM projects_project WHERE domain = 'other'") == [(1,)]
