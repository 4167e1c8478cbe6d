"""What `manage.py demo` prints when it is ready."""

from io import StringIO
from pathlib import Path

import pytest

from docsite.server.management.commands.demo import Command

FACTS = {
    "base_url": "http://127.0.0.1:8000",
    "domain": "demo",
    "project_id": "prj_1",
    "assistant_key": "svc_dsc_1",
    "admin_key": "svc_1",
    "admin_username": "admin",
    "admin_password": "first",
}
FILE = Path("/data/demo.json")


@pytest.mark.parametrize(
    ("password", "file", "printed"),
    [
        ("first", None, "admin / first"),
        ("first", FILE, "admin / unchanged, stored in /data/demo.json"),
        ("", FILE, "admin / the password you set"),
        ("", None, "admin / the password you set"),
    ],
)
def test_the_owner_reads_where_the_password_is(password, file, printed):
    output = StringIO()
    Command(stdout=output)._print_summary({**FACTS, "admin_password": password}, file)
    assert f"({printed})" in output.getvalue()
