"""A generator is recognized by its configuration or its dependency, wherever that lies. The files are for the tests."""

import pytest

from search.sources.files import list_files
from search.sources.markdown import generators
from search.sources.registry import detect_generator
from search.sources.request import SourceRequest
from search.text.sections import split
from tests.search.sources.generators.test_site_headings import list_anchors, read_pages

COLLECTION = "src/content/docs/a.md"
STARLIGHT = '{"d": {"@astrojs/starlight": "1"}}'
SITES = {
    "astro without starlight": ({"astro.config.mjs": "{}", COLLECTION: "x"}, "plain", "/src/content/docs/a"),
    "starlight as a dependency": (
        {"astro.config.mjs": "import x from './y'", "package.json": STARLIGHT, COLLECTION: "x"},
        "starlight", "/a",
    ),
    "nextra as a dependency": (
        {"next.config.js": "x", "package.json": '{"d": {"nextra": "4"}}', "content/a.md": "x"}, "nextra", "/a",
    ),
    "vitepress in a package": (
        {"README.md": "x", "packages/m/.vitepress/config/index.ts": "x", "packages/m/a.md": "x",
         "packages/m/b.md": "x", "packages/m/.vitepress/config/shared.ts": "cleanUrls: true"}, "vitepress", "/a",
    ),
    "mkdocs in a package": (
        {"apps/handbook/mkdocs.yml": "site_name: x", "apps/handbook/docs/a.md": "x"}, "mkdocs", "/a",
    ),
    "a generator among other pages": (
        {"notes/a.md": "x", "notes/b.md": "x", "tools/kit/mkdocs.yml": "site_name: x", "tools/kit/docs/c.md": "x"},
        "plain", "/notes/a",
    ),
    "a generator of a test": ({"a.md": "x", "tests/mkdocs.yml": "a: [", "tests/docs/a.md": "x"}, "plain", "/a"),
    "a broken one far inside": ({"a.md": "x", "b/c/mkdocs.yml": "a: ["}, "plain", "/a"),
    "sveltekit": (
        {"package.json": '{"d": {"@sveltejs/kit": "2"}}', "documentation/10-start/20-a.md": "x"}, "plain",
        "/documentation/start/a",
    ),
    "numbers without sveltekit": ({"documentation/10-start/20-a.md": "x"}, "plain", "/documentation/10-start/20-a"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "generator", "path"), SITES.values(), ids=SITES)
def test_a_generator_is_recognized_by_its_configuration(tmp_path, files, generator, path):
    assert path in read_pages(tmp_path, files)
    assert detect_generator(SourceRequest(str(tmp_path), "https://acme.example/")) == generator


def test_many_configurations_do_not_list_the_repository_each(write, monkeypatch):
    listed = []
    monkeypatch.setattr(generators, "list_files", lambda folder: listed.append(folder) or list_files(folder))
    names = [f"part{number}" for number in range(20)]
    root = write({f"{name}/{file}": "site_name: A" for name in names for file in ("mkdocs.yml", "docs/a.md")})
    assert generators.detect_site(root, SourceRequest(str(root), "")).generator == "plain"
    assert listed.count(root) == 1
    assert len(listed) == 21


def test_a_package_may_include_files_of_its_repository(tmp_path):
    files = {
        "apps/h/.vitepress/config.ts": "",
        "apps/h/a.md": "<!--@include: ../../parts/p.md-->",
        "parts/p.md": "Part.",
    }
    assert read_pages(tmp_path, {**files, "apps/h/b.md": "x"})["/a"].markdown == "Part."


PART = "# Part\n\nTop.\n\n## One & two\n\nFirst.\n\n### Inner\n\nMore.\n\n## Three {#own}\n\nThird.\n"
INCLUDES = {
    "a section": ("<!--@include: ./p.md#one-two-->", "First.\n\n### Inner\n\nMore."),
    "a section with its own anchor": ("<!--@include: ./p.md#own-->", "Third."),
    "lines of a section": ("<!--@include: ./p.md#one-two{2,2}-->", "First."),
    "lines": ("<!--@include: ./p.md{3,3}-->", "Top."),
    "from a line": ("<!--@include: ./p.md{15,}-->", "Third."),
    "a section that is missing": ("A\n<!--@include: ./p.md#none-->", "A"),
    "a region": ("<!--@include: ./r.md#r-->", "Inside."),
}


@pytest.mark.parametrize(("source", "expected"), INCLUDES.values(), ids=INCLUDES)
def test_vitepress_includes_sections_and_lines(tmp_path, source, expected):
    region = "Before.\n<!-- #region r -->\nInside.\n<!-- #endregion r -->\n"
    pages = read_pages(tmp_path, {".vitepress/config.ts": "", "a.md": source, "p.md": PART, "r.md": region})
    assert pages["/a"].markdown.strip() == expected


@pytest.mark.parametrize("generator", ["plain", "vitepress", "docusaurus"])
@pytest.mark.parametrize("heading", ["Own words {/*mine*/}", "Own words {/mine/}", "Own words {/*#mine*/}"])
def test_a_heading_may_have_its_anchor_in_a_comment(tmp_path, generator, heading):
    page = read_pages(tmp_path, {"a.md": f"# T\n\n## {heading}\n\nText"}, generator=generator).popitem()[1]
    assert list_anchors(page)[-1] == ("Own words", "mine")


def test_soft_hyphens_are_no_part_of_words(tmp_path):
    files = {".vitepress/config.ts": "", "a.md": "# T\n\n## app.warn&shy;Handler\n\nThe hand\u00adler."}
    (part,) = split(read_pages(tmp_path, files)["/a"].markdown)
    assert (part.heading, part.text, part.anchor) == ("app.warnHandler", "The handler.", "app-warn\u00adhandler")
