"""The core must not know the apps that stand on it, not even by a string: no URL, no module path, no page's name.

import-linter forbids the imports ("The core knows no app" in pyproject.toml).
Docstrings are prose, and migrations are history.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from docsite.core.tenants.models import ApiKey
from tests.conftest import ROOT

APP = re.compile(r"(?<![a-z])(?:search|assistant|analytics|docsite\.(?:site|server))(?![a-z])", re.IGNORECASE)
OF_KEYS = re.compile(r"\bassistant[ _]keys?(?![a-z])")  # "assistant" is also the name of a kind of API key
ALLOWED = {ApiKey.Kind.ASSISTANT.value, *map(str, ApiKey.Kind.labels)}


def names_an_app(text: str) -> bool:
    return text not in ALLOWED and APP.search(OF_KEYS.sub("", text)) is not None


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Line and value of every string in a module that is no docstring."""
    tree = ast.parse(source)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.lineno, node.value


@pytest.mark.parametrize(
    "text",
    [
        "/discovery/v1/search/",
        "assistant.asking.api.router",
        "admin:analytics_visitors",
        "assistant-ip",
        "limit_search_org",
        "docsite.site.views",
        r"/v1/(?:assistant|page)/",
    ],
)
def test_a_string_that_names_an_app_is_found(text):
    assert names_an_app(text)


@pytest.mark.parametrize("text", ["First assistant key", "assistant_keys_have_a_project", "research", "/website"])
def test_other_words_are_not_taken_for_apps(text):
    assert not names_an_app(text)


def test_no_template_of_the_core_names_an_app():
    templates = [ROOT / "templates/admin/index.html", *(ROOT / "templates/admin/projects").glob("*.html")]
    assert len(templates) > 1
    found = [
        f"{path.relative_to(ROOT)}: {tag}"
        for path in templates
        for tag in re.findall(r"{%.*?%}", path.read_text())
        if names_an_app(tag) or "widget" in tag
    ]
    assert found == []


def test_no_string_of_the_core_names_an_app():
    modules = [path for path in (ROOT / "docsite/core").rglob("*.py") if "migrations" not in path.parts]
    assert len(modules) > 20
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in modules
        for line, text in strings(path.read_text())
        if names_an_app(text)
    ]
    assert found == []
