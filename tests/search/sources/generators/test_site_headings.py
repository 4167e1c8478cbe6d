"""Headings and addresses that a generator's extensions write. The files here are written for the tests."""

import pytest

from search.sources import Page
from search.sources.markdown.folder import read_folder
from search.sources.markdown.slugs import VITEPRESS, add_anchors, build_python_markdown_slugs
from search.sources.request import SourceRequest
from search.text.markdown.attributes import split_attributes
from search.text.sections import split
from tests.drafts import build_drafts


def read_pages(root, files, **request):
    """The pages of these files, by their paths."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    items = build_drafts(read_folder(root, SourceRequest(str(root), "https://acme.example/", **request)))
    return {item.path: item for item in items if isinstance(item, Page)}


def list_anchors(page):
    return [(part.heading, part.anchor) for part in split(page.markdown, page.title)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('9.7.6 { id="9.7.6" }', ("9.7.6", "9.7.6")),
        ("Words { id=words-here }", ("Words", "words-here")),
        ("Words {: #here .new }", ("Words", "here")),
        ('Words { data-toc-label="A b" #here }', ("Words", "here")),
        ("Words { data-search-exclude }", ("Words", "")),
        ("Words {.new}", ("Words", "")),
        ("GET /users/{id}", ("GET /users/{id}", None)),
        ("A set {a, b}", ("A set {a, b}", None)),
        ("`{#code}`", ("`{#code}`", None)),
        ("Words {#a {#b}", ("Words {#a", "b")),
    ],
)
def test_attribute_lists_have_many_forms(text, expected):
    assert split_attributes(text) == expected


def test_a_heading_has_the_id_of_its_attribute_list_and_no_other_trace_of_it():
    page = '# T\n\n## One { id="1.0" }\n\n## Two & more ## { data-x }\n\n## Three {.new #three}\n\n## Two\n\n## /a/{id}'
    assert [(part.heading, part.anchor) for part in split(add_anchors(page, build_python_markdown_slugs()))] == [
        ("One", "1.0"),
        ("Two & more", "two-more"),
        ("Three", "three"),
        ("Two", "two"),
        ("/a/{id}", "aid"),
    ]


def test_no_anchor_is_invented_for_a_heading_without_id_or_without_text():
    page = "# T\n\n<h2>Bare</h2>\n\nText\n\n<h2 id=named>Named</h2>\n\nText\n\n## ❤\n\nText\n\n## ❤\n\nText"
    assert [(part.heading, part.anchor) for part in split(page)] == [
        ("Bare", ""),
        ("Named", "named"),
        ("❤", ""),
        ("❤", ""),
    ]


MATERIAL = """\
plugins:
  - blog:
      blog_dir: news
      post_url_date_format: yyyy/M
      post_url_max_categories: 1
"""


def test_posts_of_materials_blog_are_at_their_dates(tmp_path):
    pages = read_pages(
        tmp_path,
        {
            "mkdocs.yml": MATERIAL,
            "docs/news/index.md": "# News",
            "docs/news/posts/first.md": "---\ndate: 2024-03-05\n---\n# Our *first* Post!\n",
            "docs/news/posts/deep/b.md": "---\ndate:\n  created: 2024-11-20\nslug: second\n---\n# Other",
        },
    )
    assert set(pages) == {"/news", "/news/2024/3/our-first-post", "/news/2024/11/second"}
    formats = "plugins: [{blog: {blog_dir: ., post_url_format: '{categories}/{file}'}}]"
    pages = read_pages(
        tmp_path / "b", {"mkdocs.yml": formats, "docs/posts/x.md": "---\ncategories: [A b, C]\n---\n# X"}
    )
    assert set(pages) == {"/a-b/x"}


def test_headings_of_hooks_and_of_mkdocstrings_have_their_ids(tmp_path):
    text = (
        "# T\n\n#### <!-- md:setting config.on -->\n\nOn.\n\n## ::: acme.tools.run\n    options:\n      x: y\n\nRuns.\n"
    )
    pages = read_pages(tmp_path, {"mkdocs.yml": "site_name: A", "docs/a.md": text})
    assert list_anchors(pages["/a"]) == [("on", "config.on"), ("acme.tools.run", "acme.tools.run")]
    assert "options" not in pages["/a"].markdown


def test_vitepress_rewrites_paths_and_names_languages(tmp_path):
    config = """export default {
      // rewrites: { 'x': 'y' },
      rewrites: { 'en/:rest*': ':rest*', 'packages/:name/docs/:page': 'api/:name/:page', 'broken(': 'x' },
      locales: { root: { label: 'English', lang: 'en-US' }, fr: { label: 'Français', link: '/fr/', lang: 'fr' } },
      cleanUrls: true,
    }"""
    names = ("en/index.md", "en/guide/a.md", "packages/core/docs/b.md", "fr/guide/a.md", "x.md")
    pages = read_pages(tmp_path, {".vitepress/config.mts": config, **dict.fromkeys(names, "# Text")})
    assert {path: page.language for path, page in pages.items()} == {
        "/": "en-US",
        "/guide/a": "en-US",
        "/api/core/b": "en-US",
        "/fr/guide/a": "fr",
        "/x": "en-US",
    }


def test_vitepress_slugs_drop_accents_and_keep_other_scripts():
    page = add_anchors("# T\n\n## Café\n\n## हिन्दी\n\n## Ӣ", VITEPRESS)
    assert [part.anchor for part in split(page)] == ["cafe", "हिन्दी", "и"]


def test_githubs_slugs_keep_combining_marks():
    page = "# T\n\n## नोट: यहाँ\n\n## ⚙️ Setup\n\n## x² – y\n\n## a\u00a0b"
    assert [part.anchor for part in split(page)] == ["नोट-यहाँ", "\ufe0f-setup", "x--y", "ab"]


STARLIGHT = """import { defineConfig } from 'astro/config';
export const locales = { root: { label: 'English', lang: 'en' }, 'pt-br': { label: 'P', lang: 'pt-BR' } };
export default defineConfig({ site: 'https://acme.example', base: '/manual', integrations: [starlight({ locales })] });
"""


def test_starlight_has_the_slugs_of_its_collection(tmp_path):
    names = {
        "index.mdx": "/",
        "Guides/Getting Started.md": "/guides/getting-started",
        "Guides/index.md": "/guides",
        "pt-br/a.mdoc": "/pt-br/a",
        "v1.2/b.md": "/v12/b",
    }
    files = {f"docs/src/content/docs/{name}": f"---\ntitle: {name}\n---\nText" for name in names}
    files["docs/src/content/docs/moved.md"] = (
        "---\nslug: far/Away\n---\n## Same\n\nA.\n\n## Same\n\n## X {% #y %}\n\nB."
    )
    files |= {f"docs/src/content/docs/{name}": "No page" for name in ("404.md", "guides/_part.mdx")}
    files |= {"docs/astro.config.mjs": STARLIGHT, "docs/src/pages/other.md": "No page"}
    pages = read_pages(tmp_path, files)
    assert set(pages) == {f"/manual{path}".rstrip("/") for path in (*names.values(), "/far/Away")}
    assert pages["/manual/guides"].address == "manual/guides/"
    assert list_anchors(pages["/manual/far/Away"]) == [("Same", "same"), ("Same", "same-1"), ("X", "y")]


def test_starlight_names_the_languages_of_its_folders(tmp_path):
    config = STARLIGHT.replace("base: '/manual',", "trailingSlash: 'never',")
    names = ("index.md", "a/b.md", "pt-br/a/b.md")
    pages = read_pages(tmp_path, {"astro.config.ts": config, **{f"src/content/docs/{name}": "# T" for name in names}})
    assert {page.address or path: page.language for path, page in pages.items()} == {
        "/": "en",
        "/a/b": "en",
        "/pt-br/a/b": "pt-BR",
    }
