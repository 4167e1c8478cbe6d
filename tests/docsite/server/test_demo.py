"""What `manage.py demo` prints when it is ready."""

from io import StringIO
from pathlib import Path

import pytest

from assistant import model_status
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


def test_start_up_says_who_writes_the_answers(settings, upstream):
    settings.ENV = settings.ENV.model_copy(update={"openai_base_url": ""})
    assert model_status.try_model() == "quoted from the pages; no model is set (OPENAI_BASE_URL)"
    settings.ENV = settings.ENV.model_copy(update={"openai_base_url": f"{upstream.url}/v1", "openai_model": "tiny"})
    assert model_status.try_model().startswith(f"by the model tiny at {upstream.url}/v1, which answered in ")
    settings.ENV = settings.ENV.model_copy(update={"openai_base_url": "http://127.0.0.1:9"})
    assert "does not answer now" in model_status.try_model()
