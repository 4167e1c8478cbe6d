"""What a release publishes agrees with itself. `make release-check` builds and tries all of it."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.test import Client

from docsite import data_folder
from docsite.extras.mkdocs_plugin.head import build_tag, describe_page
from tests.conftest import ROOT, logged_in
from tests.release.trial import clean_environment
from tests.variants import first_of

DEPLOY = ROOT / "docsite" / "deploy"
CHART = DEPLOY / "chart"
NPM = ROOT / "static" / "packages"


@pytest.fixture(scope="module")
def versions() -> ModuleType:
    """The program behind `make version`."""
    spec = importlib.util.spec_from_file_location("version", ROOT / ".ci" / "version.py")
    assert spec
    assert spec.loader
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


def test_all_packages_have_one_version(versions: ModuleType) -> None:
    found = versions.find_versions(ROOT)
    assert [name for name, named in found.items() if named != {settings.VERSION}] == []
    assert {f"static/packages/{folder.name}/package.json" for folder in NPM.iterdir()} <= set(found)
    newest = re.findall(r"^## (\S+), ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert newest == settings.VERSION


def test_the_site_and_the_admin_show_the_version(project: Any) -> None:
    assert settings.VERSION in Client().get("/quickstart").text
    owner = logged_in("release", project.project.organization)
    assert f"Version {settings.VERSION}</a>" in owner.get("/admin/").text
    assert settings.VERSION not in Client().get("/admin/login/").text, "strangers are not told"


def test_a_new_version_is_written_everywhere(versions: ModuleType, tmp_path: Path) -> None:
    for name in versions.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    versions.write_version(tmp_path, "12.0.34")
    assert set.union(*versions.find_versions(tmp_path).values()) == {"12.0.34"}
    assert '"authlib~=1.9"' in (tmp_path / "pyproject.toml").read_text()


def test_the_chart_makes_the_manifests_of_its_own_values() -> None:
    """As Helm would, with the few actions that the chart has."""
    chart, values = (yaml.safe_load((CHART / name).read_text()) for name in ("Chart.yaml", "values.yaml"))
    context = {f"Values.{name}": value for name, value in values.items()}
    context |= {"Chart.AppVersion": chart["appVersion"], "Release.Revision": 1}
    used = set()

    def fill(action: re.Match[str]) -> str:
        used.add(action[1])
        return str(context[action[1]])

    (file,) = (CHART / "templates").iterdir()
    template = file.read_text()
    named = re.findall(r"(?:kind: ConfigMap\nmetadata:\n  name: |configMapRef: \{name: )(.+?)\}?\n", template)
    assert set(named) == {"docs-service-{{ .Release.Revision }}"}, "other settings start other pods"
    filled = re.sub(r"\{\{ \.([\w.]+) \}\}", fill, template)
    assert filled == re.sub(r"\A(?:#.*\n)+", "", (DEPLOY / "kubernetes.yaml").read_text())
    assert used == set(context)
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(schema["required"]) == set(values) == set(schema["properties"]) - {"global"}


@pytest.mark.matrix
@pytest.mark.node
@pytest.mark.parametrize(
    ("name", "files"),
    first_of(
        [
            ("docusaurus", {"index.js", "index.d.ts", "version.js", "theme/SearchBar/index.js"}),
            ("react", {"index.js", "index.d.ts", "widget.d.ts"}),
        ],
        1,
    ),
)
def test_npm_packs_what_is_needed_and_no_more(name: str, files: set[str], tmp_path: Path) -> None:
    packages = tmp_path / "static" / "packages"
    shutil.copytree(NPM / name, packages / name)
    (tmp_path / "static" / "widget").mkdir()
    shutil.copy(ROOT / "static/widget/widget.d.ts", tmp_path / "static/widget")
    command = ["npm", "pack", "--dry-run", "--json", "--silent"]
    done = subprocess.run(command, cwd=packages / name, capture_output=True, text=True, check=True)
    (packed,) = json.loads(done.stdout)
    assert packed["id"] == f"@docs-service/{name}@{settings.VERSION}"
    assert {file["path"] for file in packed["files"]} == files | {"package.json", "README.md"}


def test_the_tag_of_a_mkdocs_page_has_attributes() -> None:
    attributes = {
        "domain": "acme",
        "trigger": '[a="b"]',
        "assistant": True,
        "theme": None,
        "font": "",
        "shortcuts": False,
        "offset": 0,
        "labels": {"open": "Zoeken"},
    }
    assert build_tag("https://docs.acme.example/", attributes) == (
        '<script async src="https://docs.acme.example/search.js" data-domain="acme" data-trigger="[a=&quot;b&quot;]"'
        ' data-assistant data-shortcuts="false" data-offset="0"'
        ' data-labels="{&quot;open&quot;: &quot;Zoeken&quot;}"></script>'
    )
    assert "data-assistant" not in build_tag("https://docs.acme.example", {"assistant": False})


@pytest.mark.parametrize(
    ("meta", "head", "expected"),
    [
        ({}, "", ['<meta name="docsearch:version" content="2.1">']),
        ({"tags": ["a", "b"], "keywords": "b, c"}, '<meta name="docsearch:version">', ["b, c, a"]),
        ({"tags": "a, b", "keywords": 5}, '<meta name="docsearch:version">', ['content="5, a, b"']),
        ({"tags": None, "keywords": ""}, '<meta name="docsearch:version">', []),
        ({"description": 'A "b"'}, '<meta name="docsearch:version">', ["A &quot;b&quot;"]),
        ({"description": "A"}, '<meta content="A" name=description><meta name="docsearch:version">', []),
        ({"description": "A", "tags": "a"}, "<meta name='description'><meta name='docsearch:version'>", ['"a"']),
    ],
)
def test_a_mkdocs_page_says_what_its_theme_does_not_say(meta: dict[str, Any], head: str, expected: list[str]) -> None:
    elements = list(describe_page(meta, "2.1", head))
    assert len(elements) == len(expected)
    assert all(part in element for part, element in zip(expected, elements, strict=True))


@pytest.mark.parametrize(
    ("platform", "variable", "folder"),
    [
        ("linux", "", "/home/ada/.local/share/docs-service"),
        ("linux", "/srv/ada", "/srv/ada/docs-service"),
        ("darwin", "", "/home/ada/Library/Application Support/docs-service"),
    ],
)
def test_an_installed_package_keeps_data_in_a_folder_of_the_user(
    monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, folder: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", variable)
    assert data_folder.find_user_folder() == Path(folder)


def test_the_image_copies_what_is_there() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE)
    for name in " ".join(copies).split():
        assert (ROOT / name).exists(), name


def test_the_steps_of_the_workflow_are_shell() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    script = "\n".join(re.sub(r"\$\{\{.+?\}\}", "value", step) for step in steps)
    assert not re.search(r"^\s*! ", script, re.MULTILINE), "`bash -e` goes on after a negated command"
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("tags", "tag", "expected"),
    [
        (["v0.9.0", "v0.10.0"], "v0.10.0", ["0.10.0", "0.10", "latest"]),
        (["v1.4.1", "v1.5.0", "v1.4.2"], "v1.4.2", ["1.4.2", "1.4"]),
    ],
)
def test_only_the_highest_version_is_the_latest_image(
    tmp_path: Path, tags: list[str], tag: str, expected: list[str]
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "First")
    for each in tags:
        git("tag", each)
    script = ROOT / ".github/workflows/image-tags.sh"
    command = ["sh", str(script), "ghcr.io/acme/docs", tag]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed.split() == [f"ghcr.io/acme/docs:{each}" for each in expected]


def test_a_rehearsal_asks_no_model_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
    assert not [name for name in clean_environment(HOME="/home/ada") if name.startswith("OPENAI_")]
