"""The same move between two PostgreSQL databases, and from SQLite."""

import pytest

from tests.docsite.server.placement.test_move_organization import go_there_and_back, make_deployments

pytestmark = [pytest.mark.services, pytest.mark.matrix]


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_there_and_back(tmp_path, new_database, copy_database, kind) -> None:
    first = new_database(f"back_first_{kind}") if kind == "postgresql" else copy_database(tmp_path)
    second = new_database(f"back_second_{kind}")
    docs = tmp_path / "docs"
    docs.mkdir()
    make_deployments(first, second, docs)
    go_there_and_back(first, second)
