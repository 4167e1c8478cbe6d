"""What was acknowledged is there after a move, reads never fail, and other tenants notice nothing."""

import json
import sys
from pathlib import Path

import psycopg
import pytest

from tests import processes, scenarios
from tests.conftest import PATIENCE, wait_for
from tests.docsite.server.placement import tenants
from tests.scenarios import environment
from tests.services.placement.load import Load

pytestmark = pytest.mark.services


def count(domain: str) -> None:
    """Print how many views there are, and which questions have an answer."""
    from analytics.models import PageView
    from assistant.models import Message
    from docsite.core.tenants.models import Project

    project = Project.objects.get(domain=domain)
    answers = Message.objects.filter(thread__project=project, role="assistant", state=Message.State.DONE)
    questions = Message.objects.filter(thread__in=answers.values("thread"), role="user")
    views = PageView.objects.filter(project=project)
    sys.stdout.write(json.dumps([views.count(), list(questions.values_list("content", flat=True))]))


@pytest.fixture(scope="module")
def deployments(tmp_path_factory, new_database):
    """Two databases, and two tenants in the first one."""
    page = tmp_path_factory.mktemp("docs") / "one.md"
    page.write_text(tenants.PAGE)
    first, second = new_database("place_first"), new_database("place_second")
    made = []
    for name in ("moved", "other"):
        arguments = (name, "--organization", name.title(), "--docs-url", f"https://{name}.example", "--json")
        made.append(json.loads(scenarios.manage(("createproject", *arguments), first)))
        scenarios.manage(("ingest", name, str(page.parent)), first)
    other = {"NEW_DATABASE_URL": second["DATABASE_URL"]}
    scenarios.manage(("adddeployment", "second", "--address", "10.0.0.12:8000"), {**first, **other})
    return first, second, made


def kill_in_the_middle(database: dict[str, str], other: str, folder: Path) -> None:
    """Start the move, and kill it while it copies behind the fence: another transaction holds a table."""
    out, err = folder / "out", folder / "err"
    with psycopg.connect(other) as holder, psycopg.connect(other, autocommit=True) as watcher:
        arguments = ("moveorganization", "Moved", "second")
        variables = environment({**database, "NEW_DATABASE_URL": other})
        process = processes.Process(processes.manage, arguments, variables, out, err)

        def has_progress(name: str) -> bool:
            if process.poll() is not None:
                pytest.fail(f"it has ended: {err.read_text()}")
            query = "SELECT 1 FROM projects_moveprogress WHERE name LIKE %s"
            return bool(watcher.execute(query, [name]).fetchone())

        wait_for(lambda: has_progress("%"), "the move to begin")
        holder.execute("LOCK TABLE assistant_message IN SHARE MODE")
        wait_for(lambda: has_progress("%:assistant_thread"), "the threads to be copied")
        process.kill()
        process.wait(PATIENCE)
        holder.rollback()


def test_a_move_that_is_killed_and_goes_on_loses_nothing(start, deployments, tmp_path) -> None:
    first, second, (moved, other) = deployments
    limits = {"LIMIT_ANALYTICS_ORG": "100000/h", "LIMIT_COLLECT_IP": "100000/m"}  # a fast machine reads many reports
    databases = {"first": first, "second": second}
    services = {name: start.fresh(**database, **limits) for name, database in databases.items()}
    place = ["first"]
    with (
        Load(moved, lambda: services[place[0]].url, may_be_refused=True) as load,
        Load(other, lambda: services["first"].url, may_be_refused=False) as others,
    ):
        wait_for(lambda: load.has_done(5) and others.has_done(5), "some load")
        kill_in_the_middle(first, second["DATABASE_URL"], tmp_path)
        other_database = {"NEW_DATABASE_URL": second["DATABASE_URL"]}
        scenarios.manage(("moveorganization", "Moved", "second"), {**first, **other_database})
        assert scenarios.manage(("nginxmap",), first).splitlines()[0] == "moved 10.0.0.12:8000;"
        before, refused = load.done.copy(), load.refused.copy()
        wait_for(lambda: load.done["search"] > before["search"] + 5, "reads of the old copy")
        assert load.done["report"] > before["report"]
        assert load.done["view"] == before["view"]
        assert load.refused["view"] > refused["view"]
        assert load.refused["ask"] > refused["ask"]
        place[0] = "second"
        wait_for(lambda: load.has_done(5, since=before), "the second deployment to serve")
    assert load.wrong == []
    assert others.wrong == []
    for tenant, database in ((load, second), (others, first)):
        views, questions = json.loads(scenarios.run(count, database, tenant.tenant["domain"]))
        assert views == tenant.views
        assert set(tenant.questions) <= set(questions)
