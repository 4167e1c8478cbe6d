"""Addresses and anchors of Jekyll, mdBook and Nextra. The files are written for the tests."""

import time
from pathlib import Path

import pytest

from search.sources import PageRedirect
from search.sources.markdown.folder import read_folder
from search.sources.markdown.generators import jekyll, material
from search.sources.markdown.generators.hugo_shortcodes import Shortcodes
from search.sources.request import SourceRequest
from tests.search.sources.generators.test_site_headings import list_anchors, read_pages

JEKYLL = """\
theme: minima
timezone: America/Los_Angeles
lang: en
exclude: [drafts/, "*.tmp.md"]
collections:
  docs: {output: true, permalink: "/:collection/:path/"}
  notes: {output: true}
  parts: {}
"""


def test_jekyll_has_pages_collections_and_posts_where_they_are(tmp_path):
    names = {
        "index.md": "/",
        "guide/index.md": "/guide",
        "guide/install.md": "/guide/install",
        "_docs/a/b.md": "/docs/a/b",
        "_notes/c.md": "/notes/c",
        "_posts/2024-03-05-My-post.markdown": "/2024/03/05/My-post",
    }
    files = {name: f"---\ntitle: {name}\n---\nText" for name in names}
    files |= dict.fromkeys(("drafts/x.md", "a.tmp.md", "_parts/p.md", "_layouts/l.md", "_posts/draft.md"), "No page")
    files["about.md"] = "---\npermalink: /about-us/\nredirect_from: [/us/]\n---\nText"
    files["_posts/2024-01-01-b.md"] = "---\ndate: 2024-01-01 02:00:00 +0000\ncategories: [News Desk, x]\n---\nText"
    pages = read_pages(tmp_path, {"_config.yml": JEKYLL, **files})
    assert set(pages) == {*names.values(), "/about-us", "/news desk/x/2023/12/31/b"}
    assert (pages["/guide/install"].address, pages["/docs/a/b"].address) == ("guide/install.html", "docs/a/b/")
    assert pages["/guide"].language == "en"


def test_jekylls_permalink_style_and_defaults_change_addresses(tmp_path):
    config = "permalink: pretty\ndefaults:\n- {scope: {path: api}, values: {permalink: '/ref/:basename:output_ext'}}\n"
    files = {"a/b.md": "Text", "api/c.md": "Text", "d.md": "---\nnumber: 7\npermalink: /notes/:number.html\n---\nText"}
    pages = read_pages(tmp_path, {"_config.yml": config, **files})
    assert {page.address for page in pages.values()} == {"a/b/", "ref/c.html", "notes/7.html"}


def test_liquid_leaves_what_it_encloses_and_where_links_lead(tmp_path):
    text = """# T

See [a]({% link _docs/a.md %}), [b]({% post_url 2024-03-05-b %}), [c]({{ '/c/' | relative_url }}).
{% if x %}Inner{% endif %}{% comment %}Not this{% endcomment %} {{ site.title }}

{% highlight ruby %}
puts 1
{% endhighlight %}

{% raw %}`{{ page.title }}`{% endraw %}

## Words
{: #own .no_toc }

Text

## Version {{ site.version }}

Text

## What's *new*?

Text
"""
    page = read_pages(tmp_path, {"_config.yml": "theme: x", "a.md": text})["/a"]
    begin = (
        "# T See [a](/_docs/a.md), [b](/_posts/2024-03-05-b.md), [c](/c/). Inner ```ruby puts 1 ``` `{{ page.title }}`"
    )
    assert " ".join(page.markdown.split()).startswith(begin)
    assert list_anchors(page)[1:] == [("Words", "own"), ("Version", ""), ("What's new?", "whats-new")]


@pytest.mark.parametrize(
    ("config", "anchor"),
    [
        ({"_config.yml": "theme: minima"}, "a--b--c"),
        ({"hugo.toml": "title = 'T'"}, "a--b--c"),
        ({"_config.yml": "kramdown: {input: kramdown}"}, "a----b-----c"),
        ({"book.toml": "[book]\nsrc = 'content'"}, "a--b--c"),
        ({"book.toml": "[book]\nsrc = 'content'\n[output.html]\nsmart-punctuation = false"}, "a----b-----c"),
    ],
)
def test_dashes_are_no_part_of_an_anchor(tmp_path, config, anchor):
    """As built with Jekyll 4.3, mdBook 0.5 and Hugo 0.168."""
    pages = read_pages(tmp_path, {**config, "content/a.md": "# T\n\n## A -- B --- C\n\nText\n\n## Use `--x`\n\nText"})
    (page,) = pages.values()
    assert list_anchors(page)[-2:] == [("A -- B --- C", anchor), ("Use --x", "use---x")]


def test_kramdowns_own_parser_makes_other_ids(tmp_path):
    files = {"_config.yml": "kramdown: {input: kramdown}", "a.md": "# T\n\n## 1. Über_x y!\n\nText\n\n## 12\n\nText"}
    assert [anchor for _, anchor in list_anchors(read_pages(tmp_path, files)["/a"])] == ["berx-y", "section"]


@pytest.mark.parametrize(
    "files",
    [
        {"_config.yml": "title: A", "_toc.yml": "root: a"},
        {"_config.yml": "source_dir: x"},
        {"_config.yml": "theme: x", "package.json": '{"dependencies": {"hexo": "8"}}'},
    ],
)
def test_a_config_of_another_tool_is_not_jekylls(tmp_path, files):
    assert set(read_pages(tmp_path, {**files, "b/c.md": "Text"})) == {"/b/c"}
    assert read_pages(tmp_path, {**files, "b/c.md": "Text"})["/b/c"].address == ""


BOOK = """\
[book]
language = "de"
[output.html.redirect]
"/old/a.html" = "../guide/b.html"
"/old/b.html#x" = "../guide/b.html#y"
"""


def test_mdbook_has_the_pages_of_its_summary(tmp_path):
    files = {
        "guide/book.toml": BOOK,
        "guide/src/SUMMARY.md": "# Summary\n\n[Start](README.md)\n\n- [B](./guide/b.md)\n  - [C](guide/README.md)\n"
        "- [Draft]()\n",
        "guide/src/README.md": "# Start\n",
        "guide/src/guide/b.md": "# B\n\n## It's `a::b`\n\n{{#include x.rs}}\n\n## It's a::b\n\nText\n\n## X {#y .z}\n",
        "guide/src/guide/README.md": "Text",
        "guide/src/other.md": "No page",
    }
    pages = read_pages(tmp_path, files)
    assert {path: page.address for path, page in pages.items()} == {
        "/": "",
        "/guide/b": "guide/b.html",
        "/guide": "guide/",
    }
    assert (pages["/guide"].title, pages["/guide"].language) == ("C", "de")
    assert list_anchors(pages["/guide/b"]) == [("It's a::b", "its-ab"), ("It's a::b", "its-ab-1"), ("X", "y")]
    assert "include" not in pages["/guide/b"].markdown
    items = list(read_folder(tmp_path, SourceRequest(str(tmp_path), "")))
    old = [item for item in items if isinstance(item, PageRedirect) and item.path.startswith("/old")]
    assert old == [PageRedirect("/old/a", "/guide/b")]


def test_docusaurus_has_an_index_for_a_file_that_is_named_as_its_folder(tmp_path):
    pages = read_pages(
        tmp_path, {"docusaurus.config.js": "", "docs/style/style.md": "---\nid: style\n---\nText", "docs/a.md": "Text"}
    )
    assert set(pages) == {"/docs/style", "/docs/a"}


NEXTRA = """import nextra from 'nextra'
const withNextra = nextra({ contentDirBasePath: '/docs' })
export default withNextra({ i18n: { locales: ['en', 'de'], defaultLocale: 'en' } })
"""


def test_nextra_has_content_pages_and_the_pages_of_the_app(tmp_path):
    names = {
        "content/index.mdx": "/docs",
        "content/guide/start.md": "/docs/guide/start",
        "content/guide/index.mdx": "/docs/guide",
        "src/app/(main)/about/page.mdx": "/about",
        "src/pages/old.de.mdx": "/de/old",
        "src/pages/old.en.mdx": "/old",
    }
    files = dict.fromkeys(names, "# T\n\n## Ünï & code\n\nText\n\n## Words [#own]\n\nText")
    none = ("content/_part.mdx", "src/app/about/part.mdx", "src/app/[slug]/page.mdx", "src/pages/_app.mdx", "README.md")
    pages = read_pages(tmp_path, {"next.config.mjs": NEXTRA, **files, **dict.fromkeys(none, "No page")})
    assert {path: page.language for path, page in pages.items()} == {
        path: "de" if path.startswith("/de") else "en" for path in names.values()
    }
    assert [anchor for _, anchor in list_anchors(pages["/docs"])] == ["ünï--code", "own"]
    assert set(read_pages(tmp_path / "b", {"next.config.js": "", "content/a.md": "Text"})) == {"/content/a"}


HOSTILE = (
    "{% raw %}",
    "{{",
    "{%",
    "## {% ",
    "## {{<",
    "{{< ",
    "{{</* ",
    "# x\n{:#",
    "{####",
    "## {#a ",
    "## ::: a\n    ",
)


def remove_shortcodes(text):
    return Shortcodes(Path("/none"), Path("/none"), {}).expand(text, {}, [])


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("rewrite", [jekyll.remove_liquid, remove_shortcodes, material.rewrite])
def test_a_hostile_page_is_rewritten_in_proportion_to_its_length(piece, rewrite):
    began = time.process_time()
    rewrite(f"{{{{< x {piece * (200_000 // len(piece))} {{% x")
    assert time.process_time() - began < 5
