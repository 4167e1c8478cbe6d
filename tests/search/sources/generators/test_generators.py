"""Where the real site shows a page, and what it calls its headings: by generator, as the generators do it themselves.

Anchors and addresses here were compared with what MkDocs and VitePress build.
"""

import json
import time

import pytest

from search.sources import ExcludedPage, Page, PageRedirect, Problem, UnreadablePage, generators, registry
from search.sources.markdown.folder import read_folder
from search.sources.markdown.slugs import (
    MINTLIFY,
    VITEPRESS,
    add_anchors,
    build_pymdownx_slugs,
    build_python_markdown_slugs,
)
from search.sources.request import SourceRequest
from search.text.sections import split
from tests.drafts import build_drafts
from tests.variants import first_of


def read(root, docs_url="https://acme.example/", **request):
    return list(build_drafts(read_folder(root, SourceRequest(str(root), docs_url, **request))))


def places(root, **request):
    """Where each page is, by its path: the address, or nothing where that is just the path."""
    return {item.path: item.address for item in read(root, **request) if isinstance(item, Page)}


def anchors(slugs, *headings):
    page = add_anchors("\n\n".join(f"## {heading}" for heading in headings), slugs)
    return [part.anchor for part in split(page)]


SLUGS = {
    "words": ("Quick Start", "quick-start", "quick-start", "quick-start", "quick-start"),
    "marks": ("What's new?", "whats-new", "whats-new", "what-s-new", "what-s-new"),
    "marks alone": ("A & B / C", "a-b-c", "a--b--c", "a-b-c", "a-&-b-/-c"),
    "a version": ("OAuth 2.0 setup", "oauth-20-setup", "oauth-20-setup", "oauth-2-0-setup", "oauth-2-0-setup"),
    "a colon": ("Note: this", "note-this", "note-this", "note-this", "note-this"),
    "accents": ("Über *café*", "uber-cafe", "über-café", "uber-cafe", "über-café"),
    "other scripts": ("你好 World", "world", "你好-world", "你好-world", "你好-world"),
    "code": ("The `foo.bar_baz()` call", "the-foobar_baz-call", "the-foobar_baz-call", "the-foo-bar-baz-call",
             "the-foo-bar_baz-call"),
    "a digit first": ("1. One", "1-one", "1-one", "_1-one", "1-one"),
    "a link": ("See [the *guide*](x.md)", "see-the-guide", "see-the-guide", "see-the-guide", "see-the-guide"),
    "its own": ("Words {#Here}", "Here", "Here", "Here", "Here"),
    "its own with classes": ("Words { .new #Here }", "Here", "Here", "Here", "Here"),
    "closing marks": ("Words ##", "words", "words", "words", "words"),
}  # fmt: skip


@pytest.mark.parametrize(("heading", "toc", "lower", "vitepress", "mintlify"), SLUGS.values(), ids=SLUGS)
def test_headings_are_called_as_the_site_calls_them(heading, toc, lower, vitepress, mintlify):
    kinds = (build_python_markdown_slugs(), build_pymdownx_slugs(case="lower"), VITEPRESS, MINTLIFY)
    assert [anchors(kind, heading)[0] for kind in kinds] == [toc, lower, vitepress, mintlify]


def test_repeated_headings_are_numbered_as_the_site_does():
    headings = ("Same", "Same", "Same", "Same_1", "Same-2")
    assert anchors(build_python_markdown_slugs(), *headings) == ["same", "same_1", "same_2", "same_3", "same-2"]
    assert anchors(VITEPRESS, *headings) == ["same", "same-1", "same-2", "same-1-1", "same-2-1"]
    assert anchors(MINTLIFY, *headings) == ["same", "same-2", "same-3", "same_1", "same-2-2"]


def test_an_anchor_that_a_page_gives_is_taken_from_the_start():
    assert anchors(build_python_markdown_slugs(), "Here", "Words {#here}") == ["here_1", "here"]


def test_only_headings_that_github_names_otherwise_are_changed():
    page = (
        "# Title\n\n## Same\n\n## Same\n\n```sh\n## a, b & c\n```\n\n    ## code & more\n\n!!! note\n"
        "    ## In a note & out\n\n        ## code & code\n\nBelow a line & above\n---\n\n- a & b\n---\n\nA & b\n***\n"
    )
    expected = (
        page.replace("## Same\n\n```", "## Same {#same_1}\n\n```")
        .replace("a note & out", "a note & out {#in-a-note-out}")
        .replace("line & above", "line & above {#below-a-line-above}")
    )
    assert add_anchors(page, build_python_markdown_slugs()) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", first_of(["# a\n", "## a & b\n", "# a_1\n", "a\n===\n", "# `a\n", "!!! a\n    ", " ", "#"], 1)
)
def test_a_hostile_page_costs_time_in_proportion(piece):
    def seconds(size):
        began = time.process_time()
        add_anchors(f"# a {piece * (size // len(piece))} b}}", build_python_markdown_slugs())
        return time.process_time() - began

    assert any(seconds(40_000) < 25 * max(seconds(5_000), 0.02) for _ in range(3))


FILES = {"index.md": "# Home", "guide/install.md": "# Install", "guide/index.md": "# Guide", "a b/ü.md": "# Ü"}


def test_plain_files_are_where_they_lie(write):
    assert places(write(FILES)) == {"/": "", "/guide": "", "/guide/install": "", "/a b/ü": ""}


def test_mkdocs_has_folders_for_pages(write):
    root = write({"mkdocs.yml": "site_name: A", **{f"docs/{name}": text for name, text in FILES.items()}})
    expected = {"/": "", "/guide": "guide/", "/guide/install": "guide/install/", "/a b/ü": "a%20b/%C3%BC/"}
    assert places(root) == expected
    assert places(root / "docs") == expected  # with the configuration just above
    (root / "mkdocs.yml").write_text("use_directory_urls: false")
    assert places(root)["/guide/install"] == "guide/install.html"


def test_mkdocs_is_read_with_what_python_it_names(write):
    config = """\
        site_name: !ENV [SITE, Acme]
        docs_dir: text
        nav:
          - Start: index.md
          - More: [{Setup: setup.md}, {Elsewhere: https://x.example/}]
        exclude_docs: |
          drafts/
          *.tmp.md
          !keep.tmp.md
        plugins:
          - search
          - redirects: {redirect_maps: {old/place.md: setup.md#there, gone.md: https://x.example}}
        markdown_extensions:
          - toc: {permalink: true, slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}}
          - pymdownx.emoji: {emoji_index: !!python/name:material.extensions.emoji.twemoji }
        """
    files = {"index.md": "No heading", "setup.md": "# Setting up\n\n## Über uns", "drafts/x.md": "", "a.tmp.md": ""}
    root = write({"mkdocs.yml": config, **{f"text/{name}": text for name, text in files.items()}, "README.md": "x"})
    write({"text/keep.tmp.md": "Kept", "text/sub/README.md": "See", "text/sub/x.md": "x"})
    items = read(root)
    found = {item.path: item for item in items if isinstance(item, Page)}
    assert sorted(found) == ["/", "/keep.tmp", "/setup", "/sub", "/sub/x"]
    assert found["/"].title == "Start"
    assert (found["/setup"].title, found["/setup"].keywords) == ("", ("Setup",))
    assert found["/setup"].markdown.endswith("## Über uns")  # as GitHub has it
    assert [item for item in items if isinstance(item, PageRedirect)] == [
        PageRedirect("/old/place", "/setup"),
        PageRedirect("/sub/README", "/sub"),
    ]


def test_docs_json_says_what_pages_are(write):
    config = {
        "navigation": {
            "languages": [
                {"language": "en", "versions": [
                    {"version": "v2.0", "groups": [{"group": "A", "root": "index", "pages": [
                        "guide/start", "GET /users", {"group": "B", "openapi": "x.json", "pages": ["guide/more"]}]}]}]},
                {"language": "pt-BR", "tabs": [{"tab": "T", "pages": ["pt/start"]}, {"$ref": "./nav/hidden.json"}]},
            ]
        },
        "redirects": [
            {"source": "/old", "destination": "/guide/start"},
            {"source": "/old/:slug*", "destination": "/new/:slug*"},
        ],
    }  # fmt: skip
    names = ("index", "guide/start", "guide/more", "pt/start", "pt/secret", "alone", "snippets/x", "internal/y")
    root = write({
        "docs.json": config, "nav/hidden.json": {"hidden": True, "pages": ["pt/secret"]}, ".mintignore": "internal/\n",
        **{f"{name}.mdx": f"---\nsidebarTitle: Short\ntitle: {name}\n---\n## A.b\n\n## A.b" for name in names},
    })  # fmt: skip
    items = read(root)
    found = {item.path: (item.language, item.version) for item in items if isinstance(item, Page)}
    assert found == {
        "/": ("en", "v2.0"),
        "/guide/start": ("en", "v2.0"),
        "/guide/more": ("en", "v2.0"),
        "/pt/start": ("pt-BR", ""),
    }
    page = next(item for item in items if isinstance(item, Page) and item.path == "/guide/start")
    assert (page.keywords, page.markdown.split()) == (("Short",), ["##", "A.b", "{#a-b}", "##", "A.b", "{#a-b-2}"])
    assert [item.origin for item in items if isinstance(item, ExcludedPage)] == ["alone.mdx", "pt/secret.mdx"]
    assert [item for item in items if isinstance(item, PageRedirect)] == [PageRedirect("/old", "/guide/start")]


DOCUSAURUS = {
    "docusaurus.config.ts": "export default { presets: [['classic', { docs: { sidebarPath: 'x' } }]] }",
    "docs/01-intro.md": "Text",
    "docs/02-guides/_part.mdx": "Part",
    "docs/02-guides/03-start.mdx": "## Words {/* #here */}",
    "docs/02-guides/index.md": "Text",
    "docs/topic/topic.md": "Text",
    "docs/topic/2024-01-02-news.md": "Text",
    "docs/named.md": "---\nid: other\n---\nText",
    "docs/moved.md": "---\nslug: /far/away\n---\nText",
    "blog/post.md": "No documentation",
}


def test_docusaurus_has_names_without_numbers(write):
    root = write(DOCUSAURUS)
    expected = {
        "/docs/intro": "", "/docs/guides/start": "", "/docs/guides": "docs/guides/", "/docs/topic": "docs/topic/",
        "/docs/topic/2024-01-02-news": "", "/docs/other": "", "/docs/far/away": "",
    }  # fmt: skip
    assert places(root) == expected
    assert places(root / "docs") == expected
    below = places(root, docs_url="https://acme.example/docs")
    assert set(below) == {path.removeprefix("/docs") for path in expected}
    assert PageRedirect("/docs/01-intro", "/docs/intro") in read(root)  # as other files link it
    page = next(item for item in read(root) if isinstance(item, Page) and item.path == "/docs/guides/start")
    assert split(page.markdown)[0].anchor == "here"


def test_docusaurus_has_versions_and_languages(write):
    i18n = "i18n/fr/docusaurus-plugin-content-docs"
    root = write({
        "docusaurus.config.js": "module.exports = { docs: { routeBasePath: '/' } }", "versions.json": ["2.0", "1.0"],
        "docs/a.md": "x", "versioned_docs/version-2.0/a.md": "x", "versioned_docs/version-1.0/a.md": "x",
        f"{i18n}/version-2.0/a.md": "x",
    })  # fmt: skip
    found = {item.path: (item.version, item.language) for item in read(root) if isinstance(item, Page)}
    assert found == {"/next/a": ("next", ""), "/a": ("2.0", ""), "/1.0/a": ("1.0", ""), "/fr/a": ("2.0", "fr")}


def test_vitepress_has_files_unless_its_addresses_are_clean(write):
    root = write({".vitepress/config.mts": "export default { srcDir: './src' }",
                  **{f"src/{name}": text for name, text in FILES.items()}})  # fmt: skip
    expected = {"/": "", "/guide": "guide/", "/guide/install": "guide/install.html", "/a b/ü": "a%20b/%C3%BC.html"}
    assert places(root) == expected
    (root / ".vitepress/config.mts").write_text("export default { cleanUrls: true, srcDir: 'src' }")
    assert places(root)["/guide/install"] == ""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("mkdocs.yml", "a: b\nnav: [", "mkdocs.yml is not YAML (line 2)"),
        ("mkdocs.yml", "- a", "mkdocs.yml is not a list of names and values"),
        ("mkdocs.yml", "docs_dir: ../other", "mkdocs.yml: its docs_dir lies outside the folder that is read"),
        ("mkdocs.yml", "a: &a [*a]\nnav: *a", "mkdocs.yml is not YAML (line 1)"),
        ("docs.json", '{\n"navigation": }', "docs.json is not JSON (line 2)"),
        ("mkdocs.yml", None, "mkdocs.yml lies outside the source folder"),
        ("docs.json", "[1]", "docs.json is not an object"),
        ("docs.json", None, "docs.json lies outside the source folder"),
        ("docs.json", '{"navigation": {"$ref": "../outside.json"}}', "outside.json lies outside the source folder"),
        ("docs.json", '{"navigation": {"$ref": "' + "x" * 400 + '.json"}}', None),
        ("docs.json", '{"navigation": [[[1, null, {"pages": {}}]], true], "redirects": [1, {}]}', None),
        ("versions.json", "[", "versions.json is not JSON (line 1)"),
        ("versions.json", None, "versions.json lies outside the source folder"),
        (".mintignore", None, ".mintignore lies outside the source folder"),
    ],
)
def test_a_broken_configuration_is_told_and_hides_nothing(write, tmp_path, name, text, expected):
    beside = {"versions.json": {"docusaurus.config.js": ""}, ".mintignore": {"docs.json": '{"navigation": {}}'}}
    root = write({"docs/a.md": "Text", **beside.get(name, {})})
    (tmp_path / "outside.json").write_text("[]")
    if text is None:
        (root / name).symlink_to(tmp_path / "outside.json")
    else:
        (root / name).write_text(text)
    if expected:
        with pytest.raises(ValueError, match="^" + expected.replace("(", r"\(").replace(")", r"\)")):
            read(root)
    else:
        assert [item for item in read(root) if not isinstance(item, UnreadablePage)]


@pytest.mark.parametrize(
    ("name", "text", "paths"),
    [
        ("mkdocs.yml", "docs_dir: loop", []),
        ("book.toml", '[book]\nsrc = "loop"', ["/a"]),
        ("hugo.toml", '[[module.mounts]]\nsource = "loop"\ntarget = "content"', []),
        (".vitepress/config.js", 'export default { srcDir: "loop" }', ["/a"]),
    ],
)
def test_a_folder_that_leads_to_itself_ends_no_ingest(write, name, text, paths):
    root = write({name: text, "a.md": "Text"})
    (root / "loop").symlink_to("loop")
    assert [item.path for item in read(root)] == paths


BOMB = "a0: &a0 [x.md]\n" + "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
WIDE = "all: &all {" + ", ".join(f"p{n}: p.md" for n in range(5_000)) + "}\n"
REFERENCES = json.dumps({"navigation": {"pages": [{"$ref": f"{'./' * (n % 20)}all.json"} for n in range(15_000)]}})
MULTIPLYING = {
    "a navigation": ("mkdocs.yml", f"{BOMB}\nnav: *a11"),
    "a wide navigation": ("mkdocs.yml", f"{WIDE}nav: [{', '.join(['*all'] * 5_000)}]"),
    "extensions": ("mkdocs.yml", f"{WIDE}markdown_extensions: [{', '.join(['*all'] * 5_000)}]"),
    "the name of a function": ("mkdocs.yml", f"{BOMB}\nmarkdown_extensions: [toc: {{slugify: {{python: *a11}}}}]"),
    "references": ("docs.json", REFERENCES),
    "versions": ("versions.json", json.dumps(["1.0"] * 20_000)),
}


@pytest.mark.parametrize(("name", "config"), first_of(MULTIPLYING.values(), 1, ids=MULTIPLYING))
def test_a_configuration_that_multiplies_itself_ends(write, name, config):
    files = {f"versioned_docs/version-1.0/{n}.md": "Text" for n in range(20)} if name == "versions.json" else {}
    root = write({
        name: config, "docs/a.md": "Text", "all.json": {f"p{n}": "x" for n in range(60_000)}, **files,
        **({"docusaurus.config.js": ""} if files else {}),
    })  # fmt: skip
    began = time.process_time()
    assert len(read(root)) == 1 + len(files)
    assert time.process_time() - began < 4


def test_a_generator_can_be_told_and_must_be_known(write):
    root = write({"a.md": "Text", "mkdocs.yml": "docs_dir: ."})
    assert [list(places(root, generator=name).values()) for name in ("", "plain", "vitepress", "mintlify")] == [
        *(["a/"], [""], ["a.html"], [""]),
    ]
    with pytest.raises(ValueError, match=r"^gatsby is no known generator: plain, mkdocs, .* or swagger-ui$"):
        list(registry.read(SourceRequest(str(root), "", generator="gatsby")))
    assert {"sphinx", "html", "redoc"} < set(generators.NAMES)


CUTS = {  # files of a site whose configuration is too long, and what is said of it
    "Jekyll's defaults": (
        {"_config.yml": "theme: x\ndefaults:\n" + "- {}\n" * 301},
        "defaults of _config.yml: the first 300 of 301 are read",
    ),
    "mdBook's preprocessors": (
        {"book.toml": "[preprocessor.links]\n[preprocessor.toc]\n"},
        "preprocessor toc of book.toml is not run here",
    ),
    "VitePress's rewrites": (
        {".vitepress/config.js": "export default { rewrites: {" + "".join(f"'a{n}.md': 'b.md',\n" for n in range(101))},
        "rewrites of the configuration: the first 100 of 101 are read",
    ),
}


@pytest.mark.parametrize(("files", "setting"), CUTS.values(), ids=CUTS)
def test_a_setting_that_is_not_read_whole_is_said(write, files, setting):
    items = read_folder(write({**files, "a.md": "T"}))
    assert [item for item in items if isinstance(item, Problem)] == [Problem("configuration", setting)]


def test_more_patterns_than_can_be_checked_stop_the_reading(write):
    patterns = "".join(f"  /x{n}\n" for n in range(501))
    with pytest.raises(ValueError, match="more than 500 patterns"):
        list(read_folder(write({"mkdocs.yml": f"exclude_docs: |\n{patterns}", "docs/a.md": "T"})))
