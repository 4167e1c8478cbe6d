"""SECURITY.md names a test for each rule, and each of these tests exists."""

import ast
import re

import pytest

from tests.conftest import ROOT

NAMED = re.compile(r"`(tests/[^`]+?\.(?:py|js))(?:::([^`]+))?`")
UNSAFE = re.compile(r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|postMessage|eval\(|new Function)")
SCRIPTS = [
    script
    for folder in ("static/widget/src", "static/site/js")
    for script in (ROOT / folder).rglob("*.js")
    if "node_modules" not in script.parts
]


def rows() -> list[str]:
    """The rows of the tables in the section that names the tests."""
    section = (ROOT / "SECURITY.md").read_text().split("## Which test shows it")[1]
    return [row for row in re.findall(r"^\| .*", section, re.MULTILINE) if not row.endswith(("| test |", "--- |"))]


def has_test(path: str, name: str) -> bool:
    """Whether a file exists and has a test of that name: a function in Python, a title in JavaScript."""
    if not (ROOT / path).is_file():
        return False
    text = (ROOT / path).read_text()
    if path.endswith(".js"):
        return bool(re.search(rf"""it\(["'`]{re.escape(name)}""", text))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return name in {node.name for node in ast.parse(text).body if isinstance(node, functions)}


@pytest.mark.matrix
def test_every_rule_names_tests_that_exist() -> None:
    named = [(row, NAMED.findall(row)) for row in rows()]
    assert len(named) > 50
    assert [row for row, tests in named if not tests] == []
    missing = [(path, name) for _, tests in named for path, name in tests if not has_test(path, name)]
    assert missing == []


def test_scripts_neither_parse_html_nor_run_text_nor_send_messages_to_other_windows() -> None:
    assert len(SCRIPTS) > 20
    assert [str(script) for script in SCRIPTS if UNSAFE.search(script.read_text())] == []
