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
