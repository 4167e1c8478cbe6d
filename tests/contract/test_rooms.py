"""The tree explains itself: small folders, and packages that say what others may import from them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

APPS = ("docsite", "search", "assistant", "analytics")
IMPORT = re.compile(rf"^ *from ((?:{'|'.join(APPS)})\b[\w.]*) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
MAX_MODULES = 15
NO_ROOMS = {"migrations", "management", "templatetags", "commands"}
FOLDERS = [
    folder
    for top in (*APPS, "tests", "static/site/js", "static/widget/src")
    for folder in (ROOT / top, *(ROOT / top).rglob("*/"))
    if not {"node_modules", "__pycache__", "migrations"} & set(folder.parts)
]
ROOMS = [
    *(folder for app in APPS[1:] for folder in (ROOT / app).iterdir() if (folder / "__init__.py").exists()),
    *(
        ROOT / "docsite" / name
        for name in (
            "privacy",
            "server",
            "setup",
            "site",
            "core/access",
            "core/delivery",
            "core/http",
            "core/network",
            "core/notifications",
            "core/sign_on",
            "core/tenants",
            "extras",
        )
    ),
]


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def imports(module: Path) -> Iterator[str]:
    """Every name that a module imports from the four packages, as `package.module.name`."""
    for source, several, alone in IMPORT.findall(module.read_text()):
        for name in re.sub(r"#.*", "", alone or several).split(","):
            if name.strip():
                yield f"{source}.{name.split()[0]}"


@cache
def list_imports() -> list[tuple[str, str]]:
    """Every import of one package from another: who imports, and what."""
    return [
        (dotted(module), name)
        for app in APPS
        for module in (ROOT / app).rglob("*.py")
        if "migrations" not in module.parts
        for name in imports(module)
    ]


@pytest.mark.parametrize("room", [room for room in ROOMS if room.name not in NO_ROOMS], ids=dotted)
def test_a_package_names_what_others_import_from_it(room: Path) -> None:
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
    prefix = f"{dotted(room)}."
    used = {
        name.removeprefix(prefix).split(".")[0]
        for importer, name in list_imports()
        if name.startswith(prefix) and not f"{importer}.".startswith(prefix)
    }
    modules = {name for name in used if (room / f"{name}.py").exists() or (room / name).is_dir()}
    assert text.endswith((".", ":", "below."))
    assert sorted(name for name in modules if f"`{name}`" not in text) == []


def test_no_folder_has_too_many_modules() -> None:
    counts = {
        str(folder.relative_to(ROOT)): len(
            {*folder.glob("*.py"), *folder.glob("*.js")} - {folder / "__init__.py", folder / "conftest.py"}
        )
        for folder in FOLDERS
    }
    assert len(counts) > 50
    assert {folder: number for folder, number in counts.items() if number > MAX_MODULES} == {}


def packages(folder: str) -> set[str]:
    """The packages of a folder that hold code of their own."""
    return {file.parent.name for file in (ROOT / folder).glob("*/__init__.py")} - NO_ROOMS


def test_the_table_of_the_readme_names_each_package() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(\w+\) \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    named = {app: set(re.findall(r"`(\w+)/`", row)) for app, row in rows}
    for app in APPS:
        folders = {folder.name for folder in (ROOT / app).iterdir() if folder.is_dir()}
        assert packages(app) <= named[app] <= folders, app


def test_the_picture_of_the_architecture_names_each_package_and_module_of_the_core() -> None:
    picture = (ROOT / "ARCHITECTURE.md").read_text().split("```text\n")[1].split("```")[0]
    rows: dict[str, str] = {}
    for line in picture.splitlines():
        name, rest = (line[:20].strip() or list(rows)[-1]), line[20:]
        rows[name] = f"{rows.get(name, '')}\n{rest}"
    assert {name for name in rows if name.startswith("docsite/")} == {f"docsite/{name}" for name in packages("docsite")}
    for app in APPS[1:]:
        assert set(rows[app].split()) == packages(app), app
    assert packages("docsite/extras") <= set(re.findall(r"\w+", rows["docsite/extras"]))
    modules = {file.stem for file in (ROOT / "docsite/core").glob("[!_]*.py")}
    first, last = (re.findall(form, rows["docsite/core"], re.MULTILINE) for form in (r"^(\w+) ", r"\b(\w+)(?:,|$)"))
    assert packages("docsite/core") == set(first) - modules
    assert modules <= set(last)
