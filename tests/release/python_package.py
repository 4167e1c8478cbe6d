"""The Python package: `pip install`, `docs-service demo`, a request, and the widget in Chromium."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.ports import free_port
from tests.release import browser
from tests.release.trial import SECONDS, Row, Trial, clean_environment, describe_size, install, make_environment, run

PAGES = ("/", "/changelog", "/de", "/admin/login/")
FILES = ("/widget.js", "/search.js", "/views.js", "/widget.d.ts", "/static/site/css/tokens.css")


@dataclass(frozen=True)
class Demo:
    """A running demo, and what it has written down for clients."""

    url: str
    key: str
    domain: str
    python: str


def find_python(name: str) -> str:
    """The address of an interpreter on the path, or of pyenv; empty if there is none."""
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = [*map(str, versions.glob(f"{name.removeprefix('python')}.*/bin/{name}")), shutil.which(name)]
    return next((one for one in found if one and not subprocess.call([one, "-c", ""], stderr=subprocess.DEVNULL)), "")


@contextlib.contextmanager
def serve_demo(trial: Trial, python: str) -> Iterator[Demo]:
    """Install the wheel in an empty environment, with the packages that pip chooses, and serve the demo there."""
    folder = trial.make_folder("demo")
    programs = make_environment(folder / "venv", python)
    install(programs, trial.built.wheel)
    (home := folder / "home").mkdir()
    (anywhere := folder / "anywhere").mkdir()
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [str(programs / "docs-service"), "demo", "--port", str(port), "--model", "none"]
    environment = clean_environment(HOME=str(home))
    with subprocess.Popen(
        command, cwd=anywhere, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            assert process.stdout
            printed = []
            for line in process.stdout:
                printed.append(line)
                if line.startswith("Ready: "):
                    break
            else:
                raise AssertionError(f"the demo ended: {''.join(printed)}")
            timer.cancel()
            threading.Thread(target=process.stdout.read, daemon=True).start()
            facts = json.loads((home / ".local/share/docs-service/demo.json").read_text())
            assert not list(anywhere.iterdir()), "data are in the folder of the user"
            version = run(programs / "python", "-c", "import platform; print(platform.python_version())", cwd=folder)
            yield Demo(url, facts["assistant_key"], facts["domain"], version.strip())
        finally:
            timer.cancel()
            process.terminate()
            process.wait(SECONDS)


def rehearse(trial: Trial, pythons: list[str]) -> Iterator[Row]:
    """Try the wheel with each interpreter that is here. For the others pip resolves it, with wheels only."""
    size = describe_size(trial.built.wheel)
    for name in pythons:
        if not (python := find_python(name)):
            yield Row("docs-service (wheel)", size, f"{name}, which is not here", resolve(trial, name))
            continue
        with serve_demo(trial, python) as demo:
            with httpx.Client(base_url=demo.url, timeout=60, trust_env=False) as client:
                for path in PAGES + FILES:
                    assert client.get(path).status_code == 200, path
                version = re.search(r"docs_service-([\d.]+)-", trial.built.wheel.name)
                assert version
                assert version[1] in client.get("/").text
            with browser.open_tab() as tab:
                tab.goto(f"{demo.url}/quickstart")
                seen = browser.ask(tab, trial.output / "pictures" / f"{name}.png")
            yield Row("docs-service (wheel)", size, f"Python {demo.python}", f"demo, pages and files, {seen}")


def resolve(trial: Trial, name: str) -> str:
    """Let pip choose wheels of all packages for an interpreter. Returns a sentence with their number."""
    folder = trial.make_folder(f"resolved-{name}")
    version = name.removeprefix("python")
    wanted = ("--python-version", version, "--implementation", "cp", "--platform", "manylinux_2_28_x86_64")
    platforms = ("--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_17_x86_64")
    report = folder / "report.json"
    options = ("--quiet", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", report)
    programs = make_environment(folder / "venv", "python3")
    target = ("--target", folder / "packages")
    run(programs / "pip", "install", *options, *wanted, *platforms, *target, trial.built.wheel, cwd=folder)
    return f"not run; pip finds wheels of all {len(json.loads(report.read_text())['install'])} packages"
