"""What `manage.py demo` prints when it is ready."""

from io import StringIO
from pathlib import Path

import pytest

from assistant.upstream import model_status
from docsite.extras.demo.management.commands.demo import Command
from docsite.server.management.commands import serve

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
        ("first", FILE, "admin / the password is in /data/demo.json"),
        ("", FILE, "admin / the password you set"),
        ("", None, "admin / the password you set"),
    ],
)
def test_the_owner_reads_where_the_password_is(password, file, printed):
    output = StringIO()
    Command(stdout=output)._print_summary({**FACTS, "admin_password": password}, "/admin/1", file)
    assert f"({printed})" in output.getvalue()


def test_the_output_ends_with_what_to_do_next():
    output = StringIO()
    Command(stdout=output)._print_summary(FACTS, "http://127.0.0.1:8000/admin/projects/project/1/change/", None)
    steps = output.getvalue().partition("Ready: ")[2]
    places = [
        "1. Ask",
        "2. Paste this tag",
        "http://localhost or http://127.0.0.1, on any port",
        '<script async src="http://127.0.0.1:8000/widget.js" data-domain="demo" data-key="svc_dsc_1"></script>',
        "python3 -m http.server",
        "allow them for the demo project at http://127.0.0.1:8000/admin/projects/project/1/change/",
        "3. Paste the address of your documentation",
        "4. Add it for good",
    ]
    assert sorted(steps.index(place) for place in places) == [steps.index(place) for place in places]


@pytest.mark.parametrize("command", [Command, serve.Command])
@pytest.mark.parametrize(
    ("arguments", "variable", "port"), [([], 9000, 9000), (["--port", "9001"], 9000, 9001), ([], None, 8000)]
)
def test_the_port_comes_from_the_environment_unless_it_is_named(settings, command, arguments, variable, port):
    environment = {"port": variable} if variable else {}
    settings.ENV = settings.ENV.model_copy(update=environment)
    parser = command().create_parser("manage.py", "command")
    assert parser.parse_args(arguments).port == port


def test_start_up_says_who_writes_the_answers(settings, upstream):
    settings.ENV = settings.ENV.model_copy(update={"openai_base_url": ""})
    assert model_status.try_model() == "quoted from the pages; no model is set (OPENAI_BASE_URL)"
    settings.ENV = settings.ENV.model_copy(update={"openai_base_url": f"{upstream.url}/v1", "openai_model": "tiny"})
    assert model_status.try_model().startswith(f"by the model tiny at {upstream.url}/v1, which answered in ")
    settings.ENV = settings.ENV.model_copy(update={"openai_base_url": "http://127.0.0.1:9"})
    assert "does not answer now" in model_status.try_model()
