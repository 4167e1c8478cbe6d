"""Docusaurus: its Markdown is MDX, and its pages are where the site has them. The files are written for the tests."""

import pytest

from tests.search.sources.generators.test_site_headings import list_anchors, read_pages

PAGE = """\
---
title: Setup
---

import Tabs from '@theme/Tabs';
import TabItem from '@theme/TabItem';
import Steps, {toc as stepsToc} from './_steps.md';
  import Notes from '@site/docs/_notes.mdx';
import Words, {
  toc,
} from "./_words.mdx"

export const toc = [...stepsToc];

{/* a comment */}
<!-- another -->

<Tabs>
  <TabItem value="npm" label="With npm">

  ```sh
  npm i acme
  ```

  </TabItem>
</Tabs>

<Steps />

<Notes name="x" />

<Words />

```mdx
import Kept from './_steps.md';
<Kept />
```
"""
EXPECTED = """\
**With npm**

```sh
npm i acme
```

One step.

Two notes.

Three words.

```mdx
import Kept from './_steps.md';
<Kept />
```"""
PARTS = {
    "docs/_steps.md": "One step.",
    "docs/_notes.mdx": "import X from './x'\n\nTwo notes.",
    "docs/_words.mdx": "Three words.",
}
COMMONMARK = "Use { x } and `<T>`.\n\nimport a from 'b'"


@pytest.mark.parametrize("name", ["docs/a.md", "docs/a.mdx"])
def test_every_page_of_docusaurus_is_mdx(tmp_path, name):
    page = read_pages(tmp_path, {"docusaurus.config.js": "", **PARTS, name: PAGE})["/docs/a"]
    assert page.markdown.strip() == EXPECTED


@pytest.mark.parametrize(
    ("config", "front"),
    [
        ("markdown: { format: 'detect' }", ""),
        ("", "---\nmdx:\n  format: md\n---\n"),
        ("markdown: { format: 'md' }", ""),
    ],
)
def test_a_site_may_say_that_its_pages_are_no_mdx(tmp_path, config, front):
    page = read_pages(tmp_path, {"docusaurus.config.js": config, "docs/a.md": f"{front}{COMMONMARK}"})["/docs/a"]
    assert page.markdown.strip() == COMMONMARK


# As remark-mdx, mdast-util-to-string and github-slugger make them.
HEADINGS = {
    "## Feature <Badge>New</Badge>": "feature-new",
    "## Feature <Badge text='x'/>": "feature-",
    "## <Badge text='y'/> Foo": "-foo",
    "## The <Icon name='a'/> option": "the--option",
    "## The `a<b>` <sup>2</sup> x": "the-ab-2-x",
    "## A<br/>B": "ab",
    "## Install <a id='x'></a>": "install-",
    "## Plain `code`": "plain-code",
    "## Mine <b>x</b> {#own}": "own",
}


def test_a_heading_with_a_tag_has_the_anchor_of_the_site(tmp_path):
    text = "# T\n\n```md\n## A <b>c</b>\n```\n\n" + "\n\n".join(f"{heading}\n\nText." for heading in HEADINGS)
    page = read_pages(tmp_path, {"docusaurus.config.js": "", "docs/a.md": text})["/docs/a"]
    assert [anchor for _, anchor in list_anchors(page)[1:]] == list(HEADINGS.values())
    assert "## A <b>c</b>\n" in page.markdown


I18N = "docusaurus-plugin-content-docs"
VERSIONS = {"website/versions.json": '["2.0", "1.0"]', "website/versioned_docs/version-2.0/a.md": "x",
            "website/versioned_docs/version-1.0/a.md": "x"}  # fmt: skip
CLASSIC = "presets: [['classic', { docs: { %s } }]]"
API = "plugins: [['@docusaurus/plugin-content-docs', /** @type {x} */ ({ id: 'api', %s })]]"
SITES = {
    "docs beside website": (
        {"website/docusaurus.config.js": CLASSIC % "path: '../docs', routeBasePath: '/'", "docs/a.md": "x", **VERSIONS},
        {"/next/a": "next", "/a": "2.0", "/1.0/a": "1.0"},
    ),
    "docs beside website by itself": (
        {"website/docusaurus.config.js": "", "docs/a.md": "x", **VERSIONS},
        {"/docs/next/a": "next", "/docs/a": "2.0", "/docs/1.0/a": "1.0"},
    ),
    "a folder of another name": (
        {"docusaurus.config.js": CLASSIC % "path: 'manual', routeBasePath: 'b'", "manual/a.md": "x", "docs/b.md": "x"},
        {"/b/a": ""},
    ),
    "a current version that is not published": (
        {"website/docusaurus.config.js": CLASSIC % "includeCurrentVersion: false", "docs/a.md": "x", **VERSIONS},
        {"/docs/a": "2.0", "/docs/1.0/a": "1.0"},
    ),
    "some versions": (
        {"website/docusaurus.config.js": CLASSIC % "onlyIncludeVersions: ['current', '2.0']", "docs/a.md": "x",
         **VERSIONS},
        {"/docs/next/a": "next", "/docs/a": "2.0"},
    ),
    "paths of versions": (
        {"website/docusaurus.config.js": CLASSIC % "lastVersion: 'current', versions: { current: { label: '3' }, "
         "'1.0': { label: 'Old', path: 'v1' }, '2.0': { path: 'v2' } }", "docs/a.md": "x", **VERSIONS},
        {"/docs/a": "", "/docs/v2/a": "2.0", "/docs/v1/a": "1.0"},
    ),
    "several plug-ins": (
        {"docusaurus.config.js": f"{API % 'routeBasePath: `reference`'}, {CLASSIC % 'x: 1'}", "docs/a.md": "x",
         "api/b.md": "x", "api_versions.json": '["1"]', "api_versioned_docs/version-1/b.md": "x",
         f"i18n/fr/{I18N}-api/version-1/b.md": "x"},
        {"/docs/a": "", "/reference/next/b": "next", "/reference/b": "1", "/fr/reference/b": "1"},
    ),
    "a plug-in alone": (
        {"docusaurus.config.js": f"docs: false, {API % 'path: `api/v1`'}", "docs/a.md": "x", "api/v1/b.md": "x"},
        {"/docs/b": ""},
    ),
    "settings of the theme": (
        {"docusaurus.config.js": "themeConfig: { docs: { sidebar: { hideable: true } } }, "
         + CLASSIC % "routeBasePath: 'd'", "docs/a.md": "x"},
        {"/d/a": ""},
    ),
    "languages": (
        {"docusaurus.config.js": "i18n: { defaultLocale: 'en', locales: ['en', 'fr'] }", "docs/a.md": "x",
         **{f"i18n/{code}/{I18N}/current/a.md": "x" for code in ("en", "fr", "de")}},
        {"/docs/a": "", "/fr/docs/a": ""},
    ),
    "a folder outside": (
        {"docusaurus.config.js": CLASSIC % "path: '../../etc'", "docs/a.md": "x"}, {"/docs/a": ""},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "versions"), SITES.values(), ids=SITES)
def test_pages_are_where_the_site_publishes_them(tmp_path, files, versions):
    pages = read_pages(tmp_path / "a", files)
    assert {path: page.version for path, page in pages.items()} == versions
