"""What operators rely on: `check --deploy`, cookies and headers for HTTPS, and files that only their owner reads."""

import os
import re
import stat
from pathlib import Path

import pytest

from docsite import data_folder
from docsite import env as environment
from tests import scenarios
from tests.conftest import question

HTTPS = {"HTTPS_ONLY": "1", "TRUSTED_PROXIES": "127.0.0.1"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_check_deploy_is_clean_when_the_service_is_on_https_only():
    checked = scenarios.complete("check", "--deploy", "--fail-level", "WARNING", **HTTPS)
    assert checked.returncode == 0, checked.stderr


def test_check_deploy_tells_what_is_missing_otherwise():
    said = scenarios.complete("check", "--deploy", "--fail-level", "WARNING", HTTPS_ONLY="").stderr
    assert set(re.findall(r"security\.(W\d+)", said)) == {"W004", "W012", "W016"}


def test_pages_and_answers_say_that_https_is_meant_to_stay(start, http, project):
    service = start(**HTTPS, HSTS_SECONDS="3600")
    over_https = {"X-Forwarded-Proto": "https"}
    search = f"{service.url}/discovery/v1/search/{project.domain}"
    for answer in (
        http.get(f"{service.url}/admin/login/", headers=over_https),
        http.post(search, json={"query": "x"}, headers={**project.assistant, **over_https}),
        http.post(search, headers=over_https),
    ):
        assert answer.headers["Strict-Transport-Security"] == "max-age=3600", answer.url
    assert "Strict-Transport-Security" not in http.get(f"{service.url}/v1/nothing").headers, "RFC 6797 §7.2"


def test_the_cookies_of_the_admin_are_secure_even_over_http(start, http):
    cookie = http.get(f"{start(**HTTPS).url}/admin/login/").headers["set-cookie"]
    assert "Secure" in cookie


def test_without_the_setting_nothing_is_said(http, service, project):
    answer = http.post(
        f"{service.url}/discovery/v1/assistant/{project.domain}/message",
        json=question("Acme?"),
        headers=project.assistant,
    )
    assert "Strict-Transport-Security" not in answer.headers
    assert "Secure" not in http.get(f"{service.url}/admin/login/").headers["set-cookie"]


def test_a_new_folder_and_database_are_the_owners_alone(tmp_path):
    previous = os.umask(0o022)
    try:
        folder = tmp_path / "data"
        scenarios.manage(("migrate", "-v0"), {"DATA_DIR": str(folder)})
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
    data_folder.protect_database(files[0])
    assert mode(folder) == 0o700
    assert [mode(file) for file in files] == [0o600] * 3


@pytest.mark.parametrize("base", [".", "code"])
def test_a_folder_that_contains_the_code_stays_open(tmp_path, base):
    tmp_path.chmod(0o755)
    data_folder.prepare_data_dir(environment.Env(data_dir=tmp_path), (tmp_path / base).resolve())
    assert mode(tmp_path) == 0o755
