"""The same move between two PostgreSQL databases, and from SQLite."""

import psycopg
import pytest

from tests.docsite.server.placement.test_move_organization import go_there_and_back, make_deployments

PARTITIONS = 8  # a jump of the ids to another range makes one or two, not hundreds

pytestmark = [pytest.mark.services, pytest.mark.matrix]


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_there_and_back(tmp_path, new_database, copy_database, kind) -> None:
    first = new_database(f"back_first_{kind}") if kind == "postgresql" else copy_database(tmp_path)
    second = new_database(f"back_second_{kind}")
    docs = tmp_path / "docs"
    docs.mkdir()
    make_deployments(first, second, docs)
    go_there_and_back(first, second)
    for database in (first, second):
        if database["DATABASE_URL"]:
            with psycopg.connect(database["DATABASE_URL"]) as connection:
                names = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'analytics_pageview'::regclass"
                assert connection.execute(names).fetchone()[0] <= PARTITIONS
                assert connection.execute("SELECT count(*) FROM analytics_pageview_rest").fetchone() == (0,)
