"""The program push.py, and the workflow files of its page: their steps run in a shell, against a real service."""

import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from assistant.improving.question_groups import grouping
from assistant.models import GoldenQuestion
from docsite.site import navigation
from docsite.site.for_programs import push as client
from search.models import PushedFile, Source
from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer
from tests.conftest import PAGES, ROOT
from tests.search.pushes import archives

pytestmark = pytest.mark.slow

INSTALL, PYTHON = "How do I install acme?", "Which Python do I need to install acme?"
PAGE = navigation.pages()["sources"].body
WORKFLOWS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)]


@pytest.fixture
def tenant(make_project):
    return make_project()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with documentation, as a CI job has it."""
    for name, text in PAGES.items():
        file = tmp_path / "checkout" / "docs" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "checkout" / "docs" / "logo.png").write_bytes(b"\x89PNG")
    return tmp_path / "checkout"


def shell(script: str, folder: Path, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a step as CI systems do."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "python3").unlink(missing_ok=True)
    (tools / "python3").symlink_to(sys.executable)
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    command = ["bash", "-e", "-c", script]
    return subprocess.run(command, cwd=folder, env={**path, **environment}, capture_output=True, text=True)


def push(service, tenant, checkout: Path, *options: str, query: str = "") -> "subprocess.CompletedProcess[str]":
    url = f"{service.url}/v1/sources/{tenant.project_id}/docs{query}"
    command = [sys.executable, str(ROOT / "docsite/site/for_programs/push.py"), str(checkout / "docs"), url, *options]
    return subprocess.run(command, env={"DOCS_KEY": tenant.admin_key}, capture_output=True, text=True)


def ask(tenant) -> None:
    """Store a question that three readers asked."""
    skip_earlier()
    for reader in ("ada", "bob", "eve"):
        store_answer(tenant.project, PYTHON, "answered", fp=reader)
    grouping.catch_up()


def paths(tenant) -> set[str]:
    return set(tenant.project.documents.values_list("path", flat=True))


@pytest.mark.matrix
def test_it_sends_only_what_changed_and_sums_up(service, tenant, checkout):
    files = {path: file.read_bytes() for path, file in client.find_files(checkout / "docs").items()}
    archives.push(tenant, files, options={"under": "/v2"})
    (checkout / "docs" / "install.md").write_text("# Installing acme\n\nAn aardvark.\n")
    (checkout / "docs" / "index.md").unlink()
    again = push(service, tenant, checkout)
    assert (again.returncode, "Sending 1 of 4 files" in again.stderr) == (0, True), again.stderr
    assert "Pages: 0 added, 1 changed, 1 removed, 2 unchanged." in again.stdout
    assert "### Documentation pushed: docs" in again.stdout
    assert "Pages changed:\n\n- `/v2/install`\n" in again.stdout
    assert "Pages removed:\n\n- `/v2`\n" in again.stdout
    same = push(service, tenant, checkout)
    assert (same.returncode, "Nothing changed." in same.stdout, "Sending 0 of 4" in same.stderr) == (0, True, True)
    assert PushedFile.objects.filter(source__project=tenant.project).count() == 3


@pytest.mark.matrix
def test_a_preview_that_takes_an_answer_away_fails_and_says_which(service, tenant, checkout, tmp_path):
    assert push(service, tenant, checkout).returncode == 0
    GoldenQuestion.objects.create(project=tenant.project, text=INSTALL, paths=["/install"])
    assert push(service, tenant, checkout, "--preview").returncode == 0
    (checkout / "docs" / "install.md").unlink()
    lost = push(service, tenant, checkout, "--preview", "--summary", str(tmp_path / "summary.md"))
    assert lost.returncode == 1
    assert "**1 would lose their answer:**" in lost.stdout
    assert f"- `{INSTALL}` must cite `/install`, and cites" in lost.stdout
    assert (tmp_path / "summary.md").read_text() == lost.stdout
    assert "/install" in paths(tenant)


@pytest.mark.matrix
def test_a_lost_question_of_readers_fails_only_where_that_is_wanted(service, tenant, checkout):
    assert push(service, tenant, checkout).returncode == 0
    ask(tenant)
    (checkout / "docs" / "install.md").unlink()
    for options, status in ((("--preview",), 0), (("--preview", "--fail-on-lost"), 1)):
        lost = push(service, tenant, checkout, *options)
        assert lost.returncode == status, lost.stderr
        assert "**1 loses its answer:**" in lost.stdout
    assert push(service, tenant, checkout, "--fail-on-lost").returncode == 0


def test_it_says_why_it_failed(service, tenant, make_project, checkout):
    stranger = make_project()
    url = f"{service.url}/v1/sources/{tenant.project_id}/docs"
    program = [sys.executable, str(ROOT / "docsite/site/for_programs/push.py"), str(checkout / "docs")]
    for key, address, says in (
        ("", url, "Set DOCS_KEY"),
        (stranger.admin_key, url, "404: No such project."),
        (tenant.assistant_key, url, "403: "),
        (tenant.admin_key, f"{url}?under=a?b", "400: The request is not valid. under: "),
        (tenant.admin_key, "http://127.0.0.1:1/v1/sources/x/docs", "cannot be reached"),
    ):
        failed = subprocess.run([*program, address], env={"DOCS_KEY": key}, capture_output=True, text=True)
        assert (failed.returncode, failed.stdout) == (2, "")
        assert says in failed.stderr
        assert "Traceback" not in failed.stderr
    assert not Source.objects.filter(project=tenant.project).exists()


def test_a_failure_that_nobody_thought_of_is_no_lost_answer(checkout):
    """Exit status 1 is for previews that take an answer away."""
    program = [sys.executable, str(ROOT / "docsite/site/for_programs/push.py"), str(checkout / "docs"), "/v1/sources/x"]
    result = subprocess.run(program, env={"DOCS_KEY": "svc_x"}, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert "unknown url type" in result.stderr


def test_it_sends_no_file_from_outside_the_folder(checkout):
    docs = checkout / "docs"
    (checkout / "secret.md").write_text("secret")
    (docs / "link.md").symlink_to("../secret.md")
    (docs / "copy.md").symlink_to("install.md")
    (docs / "loop.md").symlink_to("loop.md")
    (docs / "large.bin").write_bytes(bytes(client.MAX_FILE_BYTES + 1))
    (docs / ".git").mkdir()
    (docs / ".git" / "config").write_text("token")
    (docs / ".vitepress").mkdir()
    (docs / ".vitepress" / "config.js").write_text("")
    found = client.find_files(docs)
    assert set(found) == {*(f"{name}.md" for name in PAGES), "copy.md", "logo.png", ".vitepress/config.js"}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([b'{"event": "progress", "message": "x"}\n'], "broke off"),
        ([b'{"event": "progress", "mess'], "broke off"),
        ([b'{"event": "error", "error": "No page."}\n'], "No page."),
    ],
)
def test_a_stream_without_its_end_is_a_failure(lines, says):
    with pytest.raises(client.PushFailed, match=says):
        client.read_lines(iter(lines))


def test_it_is_served_as_it_is(service, http):
    response = http.get(f"{service.url}/push.py")
    assert response.content == (ROOT / "docsite/site/for_programs/push.py").read_bytes()
    assert response.headers["content-type"] == "text/x-python; charset=utf-8"


def run_github_job(job: dict[str, Any], folder: Path, environment: dict[str, str]) -> tuple[bool, str]:
    """Run the steps of a job. Returns whether all succeeded, and what they printed."""
    succeeded, printed = True, ""
    for step in job["steps"]:
        if "run" in step and (succeeded or step.get("if") == "always()"):
            own = {name: environment[name] for name in step.get("env", {})}
            common = {name: environment[name] for name in environment if name not in WORKFLOW_SECRETS}
            done = shell(step["run"], folder, {**common, **own})
            succeeded &= done.returncode == 0
            printed += done.stdout + done.stderr
    return succeeded, printed


WORKFLOW_SECRETS = {"DOCS_KEY", "GH_TOKEN", "PULL_REQUEST"}


@pytest.mark.matrix
def test_the_workflow_of_github_pushes_and_comments(service, tenant, checkout, tmp_path):
    workflow = WORKFLOWS[0]
    assert set(workflow["env"]) == {"DOCS", "SOURCE"}
    environment = {
        "DOCS": service.url,
        "SOURCE": f"{tenant.project_id}/docs",
        "DOCS_KEY": tenant.admin_key,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md"),
        "GH_TOKEN": "token",
        "PULL_REQUEST": "7",
    }
    succeeded, printed = run_github_job(workflow["jobs"]["push"], checkout, environment)
    assert succeeded, printed
    assert "4 added" in (tmp_path / "step.md").read_text()
    GoldenQuestion.objects.create(project=tenant.project, text=INSTALL, paths=["/install"])
    ask(tenant)
    (checkout / "docs" / "install.md").unlink()
    gh = tmp_path / "tools" / "gh"
    gh.write_text('#!/bin/sh\necho "$@" > commented\ncat "$5" >> commented\n')
    gh.chmod(0o755)
    succeeded, printed = run_github_job(workflow["jobs"]["preview"], checkout, environment)
    assert not succeeded
    comment = (checkout / "commented").read_text()
    assert comment.startswith("pr comment 7 --body-file summary.md\n### Documentation preview: docs")
    assert INSTALL in comment
    assert f"**1 loses its answer:**\n\n- `{PYTHON}`, asked 3 times\n  - before: answered, `/install`:" in comment
    assert "/install" in paths(tenant)


class Notes(BaseHTTPRequestHandler):
    """Takes comments as GitLab does."""

    comments: list[tuple[str, str, str]]

    def do_POST(self) -> None:
        """Store one."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.comments.append((self.path, self.headers["PRIVATE-TOKEN"], parse_qs(body)["body"][0]))
        self.send_response(201)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.mark.matrix
def test_the_pipeline_of_gitlab_pushes_and_comments(service, tenant, checkout):
    pipeline = WORKFLOWS[1]
    environment = {"DOCS": service.url, "SOURCE": f"{tenant.project_id}/docs", "DOCS_KEY": tenant.admin_key}
    assert set(pipeline["variables"]) == {"DOCS", "SOURCE"}
    done = shell("\n".join(pipeline["push-documentation"]["script"]), checkout, environment)
    assert done.returncode == 0, done.stderr
    assert "4 added" in done.stdout
    ask(tenant)
    (checkout / "docs" / "install.md").unlink()
    Notes.comments = []
    server = HTTPServer(("127.0.0.1", 0), Notes)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api = {"CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4", "COMMENT_TOKEN": "token"}
    numbers = {"CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
    script = "\n".join(pipeline["preview-documentation"]["script"])
    done = shell(script, checkout, {**environment, **api, **numbers})
    server.shutdown()
    assert done.returncode == 0, done.stderr  # a golden question would fail it
    ((path, token, comment),) = Notes.comments
    assert (path, token) == ("/api/v4/projects/3/merge_requests/7/notes", "token")
    assert PYTHON in comment


@pytest.mark.matrix
def test_curl_and_tar_suffice(service, tenant, checkout):
    block = re.search(r"^tar cz .*$", PAGE, re.M)
    assert block
    environment = {"DOCS": service.url, "PROJECT_ID": tenant.project_id, "DOCS_KEY": tenant.admin_key}
    done = shell(block[0], checkout, environment)
    assert '"event": "end"' in done.stdout.splitlines()[-1]
    assert paths(tenant) == {"/", "/install", "/configure", "/guides/labels"}
