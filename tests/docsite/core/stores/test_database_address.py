"""Addresses of PostgreSQL with one or several servers."""

from pathlib import Path

import pytest

from docsite.database_settings import describe

SEVERAL = {"target_session_attrs": "read-write", "connect_timeout": 2}


@pytest.mark.parametrize(
    ("address", "host", "port", "options"),
    [
        ("u:p%40@one:6432/docs", "one", 6432, {}),
        ("u:p%40@one/docs?target_session_attrs=primary", "one", "", {"target_session_attrs": "primary"}),
        ("u:p%40@one:5432,two:5433/docs", "one,two", "5432,5433", SEVERAL),
        ("u:p%40@one,[::1]:5433/docs?connect_timeout=9", "one,::1", "5432,5433", {**SEVERAL, "connect_timeout": 9}),
        ("u:p%40@/docs?host=one,two&port=6432", "one,two", "6432", SEVERAL),
        ("u:p%40@/docs?host=/run/postgresql", "/run/postgresql", "", {}),
    ],
)
def test_an_address_may_name_several_servers(address, host, port, options):
    for scheme in ("postgres", "postgresql"):
        database = describe(f"{scheme}://{address}", Path())
        assert [database[name] for name in ("USER", "PASSWORD", "NAME")] == ["u", "p@", "docs"]
        assert [database[name] for name in ("HOST", "PORT", "OPTIONS")] == [host, port, options]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgres://u@one:x/docs", "the port is a number"),
        ("postgres://u@one:5432,two:0/docs", "host:5432,host:5432"),
        ("postgres://u@one,,two/docs", "host:5432,host:5432"),
        ("postgres://u@/docs?host=one,two,three&port=1,2", "one port, or one for each host"),
        ("postgres://u@one,two/docs?target_session_attrs=best", "read-write"),
        ("postgres://u@one,two/docs?target_session_attrs=standby", "read-write"),
    ],
)
def test_an_address_that_cannot_be_understood_is_refused_with_a_sentence(address, says):
    with pytest.raises(ValueError, match=says):
        describe(address, Path())
