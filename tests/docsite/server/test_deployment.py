"""What operators rely on: `check --deploy`, cookies and headers for HTTPS, and files that only their owner reads."""

import os
import re
import stat
from pathlib import Path

import httpx
import pytest
from django.conf import settings as django_settings
from django.core import signing
from pydantic import ValidationError

from docsite import data_folder, private_files
from docsite import env as environment
from docsite.core.workspace.templatetags.workspace import script_attributes
from docsite.env import Env
from docsite.extras.doctor import proxy
from docsite.server.health import reflection
from docsite.server.middleware.security_headers import build_policy
from tests import scenarios
from tests.conftest import ROOT, logged_in, question

pytestmark = pytest.mark.slow

HTTPS = {"HTTPS_ONLY": "1", "TRUSTED_PROXIES": "127.0.0.1"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_check_deploy_is_clean_when_the_service_is_on_https_only():
    checked = scenarios.complete("check", "--deploy", "--fail-level", "WARNING", **HTTPS)
    assert checked.returncode == 0, checked.stderr


def test_check_deploy_tells_what_is_missing_otherwise():
    output = scenarios.complete("check", "--deploy", "--fail-level", "WARNING", HTTPS_ONLY="").stderr
    assert set(re.findall(r"security\.(W\d+)", output)) == {"W004", "W012", "W016"}


@pytest.mark.matrix
def test_pages_and_answers_say_that_https_is_meant_to_stay(start, http, project):
    service = start(**HTTPS)
    over_https = {"X-Forwarded-Proto": "https"}
    search = f"{service.url}/discovery/v1/search/{project.domain}"
    for answer in (
        http.get(f"{service.url}/admin/login/", headers=over_https),
        http.post(search, json={"query": "x"}, headers={**project.assistant, **over_https}),
        http.post(search, headers=over_https),
    ):
        assert answer.headers["Strict-Transport-Security"] == "max-age=2592000", answer.url
    assert "Strict-Transport-Security" not in http.get(f"{service.url}/v1/nothing").headers, "RFC 6797 §7.2"


def test_the_cookies_of_the_admin_are_secure_even_over_http(start, http):
    cookie = http.get(f"{start(**HTTPS).url}/admin/login/").headers["set-cookie"]
    assert cookie.startswith("__Host-docs_csrf=")
    assert "Secure" in cookie
    assert "Domain" not in cookie, "else browsers refuse the prefix"


def test_without_the_setting_nothing_is_said(http, service, project):
    answer = http.post(
        f"{service.url}/discovery/v1/assistant/{project.domain}/message",
        json=question("Acme?"),
        headers=project.assistant,
    )
    assert "Strict-Transport-Security" not in answer.headers
    cookie = http.get(f"{service.url}/admin/login/").headers["set-cookie"]
    assert cookie.startswith("docs_csrf=")
    assert "Secure" not in cookie


def test_a_new_folder_and_database_are_the_owners_alone(tmp_path):
    previous = os.umask(0o022)
    try:
        folder = tmp_path / "data"
        scenarios.manage(("migrate", "contenttypes", "-v0"), {"DATA_DIR": str(folder)})
        assert mode(folder) == 0o700
        assert {mode(file) for file in folder.iterdir()} == {0o600}, list(folder.iterdir())
    finally:
        os.umask(previous)


def test_those_of_earlier_versions_are_restricted(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    files = [folder / f"db.sqlite3{end}" for end in ("", "-wal", "-shm")]
    for file in files:
        file.touch(mode=0o644)
    settings = environment.Env(data_dir=folder)
    data_folder.prepare_data_dir(settings, Path("/nowhere"))
    private_files.protect_database(files[0])
    assert mode(folder) == 0o700
    assert [mode(file) for file in files] == [0o600] * 3


@pytest.mark.parametrize("base", [".", "code"])
def test_a_folder_that_contains_the_code_stays_open(tmp_path, base):
    tmp_path.chmod(0o755)
    data_folder.prepare_data_dir(environment.Env(data_dir=tmp_path), (tmp_path / base).resolve())
    assert mode(tmp_path) == 0o755


def test_without_the_site_only_what_readers_of_projects_need_is_served(start, http):
    service = start(SITE="false")
    assert http.get(f"{service.url}/").headers["Location"] == "/admin/"
    statuses = {
        path: http.get(service.url + path).status_code for path in ("/quickstart", "/de", "/search", "/llms.txt")
    }
    assert set(statuses.values()) == {404}
    assert "Quickstart" not in http.get(f"{service.url}/nothing").text
    for path in ("/admin/login/", "/widget.js", "/robots.txt", "/health", "/static/site/css/tokens.css"):
        assert http.get(service.url + path).status_code == 200, path


@pytest.mark.matrix
def test_without_the_site_the_admins_help_opens_for_who_is_logged_in(start, http, project):
    service = start(SITE="false")
    pages = {
        link.partition("#")[0]
        for template in (ROOT / "templates" / "admin").rglob("*.html")
        for link in re.findall(r'href="(/[a-z][a-z-]*(?:#[a-z-]+)?)"', template.read_text())
    }
    assert {"/security", "/webhooks"} <= pages
    cookies = logged_in("help", project.project.organization).cookies
    session = {"Cookie": f"docs_session={cookies['docs_session'].value}"}
    for page in sorted(pages):
        assert http.get(service.url + page).status_code == 404, page
        shown = http.get(service.url + page, headers=session)
        assert shown.status_code == 200, page
        assert "<article" in shown.text
    assert http.get(f"{service.url}/de/quickstart", headers=session).status_code == 200
    assert http.get(f"{service.url}/nothing", headers=session).status_code == 404


def test_an_operators_limit_in_money_needs_the_operators_prices():
    limit = {"openai_base_url": "http://127.0.0.1:1/v1", "monthly_cost_per_project": 5.0}
    with pytest.raises(ValidationError, match="set OPENAI_INPUT_PRICE"):
        Env(**limit)
    for fitting in ({"openai_output_price": 2.0}, {"openai_base_url": ""}, {"monthly_cost_per_project": None}):
        Env(**{**limit, **fitting})


def test_a_short_metrics_token_is_refused():
    with pytest.raises(ValidationError, match="16 printable"):
        environment.Env(metrics_token="metrics")


@pytest.mark.parametrize(
    ("trusted", "forward", "headers", "expected"),
    [
        ("127.0.0.1", "", {}, "no X-Forwarded-For arrives"),
        ("", "198.51.100.7", {}, "Set TRUSTED_PROXIES=127.0.0.1"),
        ("127.0.0.1", "198.51.100.7", {"X-Forwarded-Proto": "https"}, "https"),
        ("127.0.0.1", "198.51.100.7", {"X-Forwarded-Proto": "HTTPS, http"}, "https"),
        ("127.0.0.1", "198.51.100.7", {"Host": "acme"}, "Let the proxy pass on"),
        ("127.0.0.1", "{}", {}, "passes on X-Forwarded-For as a reader writes it"),
        ("127.0.0.1", "unknown", {}, "does not end with an address"),
        ("127.0.0.1", "{}, _hidden", {}, "does not end with an address"),
        ("127.0.0.1", "{}, 198.51.100.7, 203.0.113.1", {}, "and 203.0.113.1 is taken for the reader"),
        ("127.0.0.1", "198.51.100.7, 203.0.113.1", {}, "Add it to TRUSTED_PROXIES"),
        ("127.0.0.1,203.0.113.1", "{}, 198.51.100.7, 203.0.113.1:443", {}, "this host arrives as 198.51.100.7"),
        ("127.0.0.1", "198.51.100.7:61002", {}, "arrive through 127.0.0.1 (this host arrives as 198.51.100.7)"),
        ("127.0.0.1", "{}, [2001:db8::1]:61002,", {}, "this host arrives as 2001:db8::1"),
        ("127.0.0.1", "{}, 127.0.0.1:61002", {}, "two readers arrive as two"),
    ],
)
def test_doctor_sees_how_requests_arrive(monkeypatch, trusted, forward, headers, expected):
    """The request goes to the code of the running service without a network. `forward` is what a proxy makes of
    X-Forwarded-For, and `headers` are others that it sends."""
    proxies = tuple(filter(None, trusted.split(",")))
    monkeypatch.setattr(django_settings, "ENV", django_settings.ENV.model_copy(update={"trusted_proxies": proxies}))
    own = {"host": "docs.acme.example"} | {name.lower(): value for name, value in headers.items()}

    def get(url, headers, timeout):
        sent = {name.lower(): value for name, value in headers.items()} | own
        sent["x-forwarded-for"] = forward.format(sent["x-forwarded-for"])
        scope = {"client": ("127.0.0.1", 1), "headers": [(k.encode(), v.encode()) for k, v in sent.items()]}
        return httpx.Response(200, json={"status": "ok", **reflection.describe({**scope, "scheme": "http"})})

    monkeypatch.setattr(proxy.httpx, "get", get)
    finding = proxy.check_proxy("http://docs.acme.example")
    assert expected in f"{finding.fact} {finding.advice}"
    assert bool(finding.advice) == ("arrive through" not in finding.fact)


def test_strangers_do_not_see_how_requests_arrive(monkeypatch):
    scope = {"client": ("127.0.0.1", 1), "scheme": "http"}
    forged = [(b"x-docs-doctor", signing.TimestampSigner(key="another", salt="x").sign("doctor").encode())]
    assert reflection.describe({**scope, "headers": forged}) == {}
    assert reflection.describe({**scope, "headers": []}) == {}
    old = [(b"x-docs-doctor", reflection.create_token().encode())]
    monkeypatch.setattr(reflection, "_MAX_AGE_SECONDS", -1)
    assert reflection.describe({**scope, "headers": old}) == {}


def test_tags_and_the_policy_of_pages_name_a_content_delivery_network(monkeypatch):
    service, network = "https://docs-service.example", "https://cdn.example.com"
    assert script_attributes(service, "/widget.js") == f'src="{service}/widget.js"'
    assert build_policy("").startswith("default-src 'self'; img-src 'self' data:;")
    monkeypatch.setattr(django_settings, "ENV", django_settings.ENV.model_copy(update={"cdn_origin": network}))
    assert script_attributes(service, "/widget.js") == f'src="{network}/widget.js" data-service="{service}"'
    assert build_policy(network).startswith(f"default-src 'self' {network}; img-src 'self' {network} data:;")
    for wrong in (f"{network}/files", "cdn.example.com", f"{network}; script-src *"):
        with pytest.raises(ValidationError, match="an origin without a path"):
            environment.Env(cdn_origin=wrong)
