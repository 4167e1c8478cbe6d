"""`manage.py dbshell` with several PostgreSQL servers."""

from docsite.core.postgresql.base import Client

SERVERS = {
    "ENGINE": "docsite.core.postgresql",
    "NAME": "docs",
    "USER": "docs",
    "PASSWORD": "",
    "HOST": "a,b",
    "PORT": "1,2",
}


def test_psql_looks_for_the_server_that_can_be_written() -> None:
    arguments, environment = Client.settings_to_cmd_args_env(
        {**SERVERS, "OPTIONS": {"target_session_attrs": "read-write"}}, []
    )
    assert arguments == ["psql", "-U", "docs", "-h", "a,b", "-p", "1,2", "docs"]
    assert environment == {"PGTARGETSESSIONATTRS": "read-write"}
    assert Client.settings_to_cmd_args_env({**SERVERS, "OPTIONS": {}}, [])[1] is None
