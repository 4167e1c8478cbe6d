"""Which reader takes a location: the first in the registry that recognizes it."""

from importlib import import_module
from inspect import signature

import pytest

from search.sources import registry
from search.sources.request import SourceRequest


def reader(location, **fields) -> str:
    return registry.find_reader(SourceRequest(str(location), "https://docs.example", **fields)).__name__


@pytest.mark.parametrize("name", registry.READERS)
def test_each_reader_recognizes_and_reads(name):
    module = import_module(name)
    assert [list(signature(getattr(module, one)).parameters) for one in ("recognizes", "read")] == [["request"]] * 2


@pytest.mark.parametrize(
    ("location", "generator", "expected"),
    [
        ("https://docs.example/LLMS.txt", "", "search.sources.web.llms"),
        ("https://docs.example/llms-full.txt", "redoc", "search.sources.web.llms"),
        ("https://docs.example/openapi.json?v=1", "", "search.sources.openapi"),
        ("https://docs.example/spec", "redoc", "search.sources.openapi"),
        ("https://docs.example/", "", "search.sources.web.crawl"),
        ("https://docs.example/docs.zip", "sphinx", "search.sources.web.crawl"),
    ],
)
def test_an_address_has_a_reader(location, generator, expected):
    assert reader(location, generator=generator) == expected


@pytest.mark.parametrize(
    ("name", "generator", "expected"),
    [
        ("llms.txt", "", "search.sources.web.llms"),
        ("api.YAML", "", "search.sources.openapi"),
        ("docs.tar.gz", "", "search.sources.archives"),
        ("docs/a.md", "", "search.sources.markdown.folder"),
        ("docs/a.html", "", "search.sources.html.folder"),
        ("docs/a.rst", "", "search.sources.sphinx.folder"),
        ("docs/a.rst", "mkdocs", "search.sources.markdown.folder"),
        ("docs/a.md", "sphinx", "search.sources.sphinx.folder"),
        ("docs/a.md", "html", "search.sources.html.folder"),
    ],
)
def test_what_lies_on_disk_has_a_reader(tmp_path, name, generator, expected):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    assert reader(file.parent if "/" in name else file, generator=generator) == expected


def test_a_manifest_lists_markdown_whatever_lies_beside_it(tmp_path):
    (tmp_path / "conf.py").touch()
    assert reader(tmp_path, manifest=tmp_path / "pages.jsonl") == "search.sources.markdown.folder"


@pytest.mark.parametrize(("name", "reason"), [("none", "neither a folder nor a file"), ("a.exe", "is no archive")])
def test_anything_else_is_refused(tmp_path, name, reason):
    (tmp_path / "a.exe").touch()
    with pytest.raises(ValueError, match=reason):
        reader(tmp_path / name)
