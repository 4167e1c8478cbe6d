"""MDX to Markdown, and what front matter says: the reader's words stay, the program goes."""

import json
import random
import time
from textwrap import dedent

import pytest

from search.sources import Page, UnreadablePage
from search.sources.markdown.folder import read_folder, read_manifest
from search.sources.markdown.mdx import to_markdown
from search.text.sections import split
from tests.drafts import build_drafts
from tests.variants import first_of

FENCE = (
    "```js a.js title=\"x {1,3}\" lines\nimport x from 'y'\nconst T = <A b={1}>{/* kept */}</A>\n\n\tif (a < b) {}\n```"
)


def indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


CASES = {
    "text": ("Just *words*.", "Just *words*."),
    "imports": ('import A from "/a.mdx";\nimport { B,\n  C } from "@site/b"\nimport "./x.css"\n\nText.', "Text."),
    "import type": ("import type { A } from 'a'\n\nText.", "Text."),
    "prose that begins with import": ("import the file, then go on.", "import the file, then go on."),
    "prose that begins with export": ("export your data.", "export your data."),
    "statements in a component": ("<Box>\n\nexport const a = `b`;\nimport c from 'd'\n\nText.\n\n</Box>", "Text."),
    "an indented import": ("  import A from './a.mdx'\n\nText.", "Text."),
    "a statement that a component shows": ("<Box>\n  import a from 'b'\n</Box>", "import a from 'b'"),
    "export": ("export const a = 1\n\nText.", "Text."),
    "export over lines": (
        "export const A = ({ x }) => {\n  const a = '}'\n\n  return (\n    <div>{x}</div>\n  )\n}\n\nText.",
        "Text.",
    ),
    "export of an arrow on the next line": ("export const a =\n  () => `${1}\n\n` // it's\n\nText.", "Text."),
    "export that never ends": ("export const a = {\n  b: 1\n\nText.", "Text."),
    "comment": ("One.\n\n{/* gone\n\n## gone */}\n\nTwo {/* gone */}three.", "One.\n\nTwo three."),
    "HTML comment": ("One.\n\n<!-- gone\n\ngone -->\n\nTwo.", "One.\n\nTwo."),
    "strings in braces": ("a {\"b\"} {'c'} {`d`}{' '}e", "a b c d e"),
    "code in braces": ("a {b.map((c) => <p title=\"}\">{c}</p>)} d", "a  d"),
    "callout": ("<Note>\n  Mind *this*.\n</Note>", "Mind *this*."),
    "callout in a line": ("<Note>Mind this.</Note>", "Mind this."),
    "callout between lines": ("One.\n<Note>Two.</Note>\nThree.", "One.\n\nTwo.\n\nThree."),
    "step": ("<Steps>\n  <Step title=\"Say 'hi'\">\n    Words.\n  </Step>\n</Steps>", "**Say 'hi'**\n\nWords."),
    "attributes over lines": (
        '<Card\n  title="Start"\n  icon={<I a="b" />}\n  href="/x"\n  {...more}\n>\n  Words.\n</Card>',
        "**Start**\n\nWords.",
    ),
    "card without text": ('<Card title="Start" description="Soon." href="/x" />', "**Start**\n\nSoon."),
    "nothing to read": ("One.\n\n<Snippet file='x' />\n\n<Icon icon='flag' name='y' />\n\nTwo.", "One.\n\nTwo."),
    "icon in a line": ('Press <Icon icon="flag" /> now.', "Press  now."),
    "parameter": (
        '<ParamField path="user_id" type="string" required>\n  Whose.\n</ParamField>',
        "`user_id` (string, required)\n\nWhose.",
    ),
    "field": (
        '<ResponseField name="n" type="Map<K>" default={5}>\n  Count.\n</ResponseField>',
        "`n` (Map\\<K>, default: 5)\n\nCount.",
    ),
    "file": ('<Tree>\n  <Tree.File name="__init__.py" />\n</Tree>', "`__init__.py`"),
    "update": ('<Update label="May 2025" description="v2">\n  News.\n</Update>', "**May 2025**\n\nv2\n\nNews."),
    "frame": ('<Frame caption="The *page*">\n  <img src="/a.png" alt="Shot" />\n</Frame>', "The *page*\n\nShot"),
    "tooltip": ('An <Tooltip headline="API" tip="a door">API</Tooltip> is.', "An API (API: a door) is."),
    "badge": ("<Badge color='red'>New</Badge> feature", "New feature"),
    "badge in a heading": ("## Feature <Badge>New</Badge>", "## Feature New"),
    "HTML": ('Press <b>Ctrl</b>+<i>C</i><br /> or <a href="/x">*read*</a>.', "Press Ctrl+C  or *read*."),
    "HTML that shows more than its text": (
        "2<sup className='a'>32</sup> <kbd>Ctrl</kbd> <s>v1</s>",
        "2<sup>32</sup> <kbd>Ctrl</kbd> <s>v1</s>",
    ),
    "HTML table": (
        "<Tab title='A'>\n  <table className='x'>\n    <tr>\n      <td colSpan={2}>{'a'}</td>\n\n"
        "      <td><p>b</p></td>\n    </tr>\n  </table>\n</Tab>",
        '**A**\n\n<table>\n<tr>\n<td colspan="2">a</td>\n\n<td>b</td>\n</tr>\n</table>',
    ),
    "script": ("a\n\n<style>{`b { c }`}</style>\n<script>\n  if (a < b) {}\n</script>\n\nd", "a\n\nd"),
    "anchor of a heading": ('<div id="here">\n  ## Words\n</div>', "## Words { #here }"),
    "heading with its own anchor": ('<div id="a">\n## Words {#b}\n</div>', "## Words {#b}"),
    "anchor of something else": ('<div id="a">\n  Text.\n\n  ## Words\n</div>', "Text.\n\n## Words"),
    "less than": ("if a < b and c <= d", "if a < b and c <= d"),
    "generic in text": ("An Array<string> of `Map<K, V>` {`x`}", "An Array\\<string> of `Map<K, V>` x"),
    "code span": ("Use `<T>`, `` {`a`} `` and `{b}`.", "Use `<T>`, `` {`a`} `` and `{b}`."),
    "escapes": (r"\<T> and \{x}", r"\<T> and \{x}"),
    "address": ("See <https://x.example/a{b}>.", "See <https://x.example/a{b}>."),
    "formula": ("As $\\frac{a}{b}$ is\n\n$$\n\\sum_{i} {x}\n$$", "As $\\frac{a}{b}$ is\n\n$$\n\\sum_{i} {x}\n$$"),
    "table": ("| a | b |\n|---|---|\n| x<br />y | <Pane>z</Pane> |", "| a | b |\n|---|---|\n| x y | z |"),
    "fence": (FENCE, FENCE),
    "fence in components": (f"<Box>\n  <Pane>\n{indented(FENCE, '      ')}\n  </Pane>\n</Box>", FENCE),
    "fence whose end is further in": ("<Box>\n  Text.\n   ```js\n     a\n    ```\n</Box>", "Text.\n```js\n  a\n```"),
    "fence in a list": (
        "<Box>\n    1. One:\n\n       ```sh\n       a {b}\n       ```\n</Box>",
        "1. One:\n\n   ```sh\n   a {b}\n   ```",
    ),
    "fence after a marker": ("- ```sh\n  a {b}\n  ```\n- c {d}", "- ```sh\n  a {b}\n  ```\n- c"),
    "fence of four": ("````mdx\n<Box>\n```js\n{a}\n```\n</Box>\n````", "````mdx\n<Box>\n```js\n{a}\n```\n</Box>\n````"),
    "deep text is no code": ("<Box>\n        Words.\n\n            More.\n</Box>", "Words.\n\nMore."),
    "text left of its component": ("  <Box>\n\nWords.\n\n  </Box>", "Words."),
    "nested list": ("<Box>\n  - a\n    - b\n\n      c\n</Box>", "- a\n  - b\n\n    c"),
    "component in a list": ("1. One\n\n   <Note>\n     Two\n   </Note>\n\n2. Three", "1. One\n\n   Two\n\n2. Three"),
    # Docusaurus
    "tab items": (
        '<Tabs>\n  <TabItem value="npm" label="NPM" default>\n\n  a\n\n  </TabItem>\n</Tabs>',
        "**NPM**\n\na",
    ),
    # Components without content
    "yes and no in cells": (
        '| <Check /> | <Cross/> | <Icon icon="circle-xmark" color="#f00" /> | <Icon icon="rocket" /> |',
        "| Yes  | No  | No  |  |",
    ),
    "yes in a cell of HTML": (
        "<tr><td><Yes/></td><td><Icon name='fa-check'/></td></tr>",
        "<tr><td>Yes </td><td>Yes </td></tr>",
    ),
    "no in an item": ("- <NotSupported /> Windows", "- No  Windows"),
    "a check with content": ("<Check>\n  Done\n</Check>", "Done"),
    "an icon in a sentence": ('Press <Icon icon="check" /> now.', "Press  now."),
    "names that only begin so": ("<Counter /> <Nothing /> <Checklist /> <Notes />", ""),
    "command": ("<Tabs command='npm i acme' />\n\n<Install package='acme' />", "`npm i acme`\n\n`acme`"),
    "texts of an unknown component": (
        '<Promo headingText="Try it now" ctaLabel="Go" tone="primary" href="/x" {...more} />',
        "**Try it now** **Go**",
    ),
    "a name with marks": ('<GitHub.Repo repo="acme/docs" variant="inset" />', "`acme/docs`"),
    "directive": (":::note Title\n\nWords {x}.\n\n:::", ":::note Title\n\nWords .\n\n:::"),
    "custom id": ("## Words {#my-id}", "## Words {#my-id}"),
    # Nextra and Fumadocs
    "tabs by number": (
        "<Tabs items={['pnpm', \"npm\"]}>\n  <Tabs.Tab>a</Tabs.Tab>\n  <Tabs.Tab>b</Tabs.Tab>\n</Tabs>",
        "**pnpm**\n\na\n\n**npm**\n\nb",
    ),
    "tabs by value": ('<Tabs items={["a"]}>\n<Tab value="x">y</Tab>\n</Tabs>', "**a**\n\ny"),
    "nextra callout": ('<Callout type="info" emoji="x">\n  Words.\n</Callout>', "Words."),
    # Starlight
    "aside": ('<Aside type="tip" title="Tip">Words.</Aside>', "**Tip**\n\nWords."),
    # Storybook
    "stories": ('<Meta title="x" />\n\n<Canvas of={Stories.A} />\n\nText.', "Text."),
    # broken
    "tag that never closes": ("<Card title=\"A\">\n  Words.\n\n## Next", "**A**\n\nWords.\n\n## Next"),
    "tag that never opened": ("Words.\n</Card>\nMore.", "Words.\n\nMore."),
    "tag without end": ('<Card title="A\n\nWords.', '\\<Card title="A\n\nWords.'),
    "crossed tags": ("<Box>\n<Pane>\nWords.\n</Box>\n</Pane>\nMore.", "Words.\n\nMore."),
    "brace that never closes": ("a { b\n\nc", "a { b\n\nc"),
    "brace that never opened": ("a } b", "a } b"),
    "fence that never closes": ("```\n<Box>{b}", "```\n<Box>{b}"),
    "nothing": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_mdx_becomes_markdown(source, expected):
    assert to_markdown(source).strip("\n") == expected


def test_line_ends_do_not_matter():
    source = "import a from 'b'\n\n<A>\n  Words.\n\n  ```\n  x\n  ```\n</A>\n"
    assert to_markdown(source.replace("\n", "\r\n")) == to_markdown(source)


def test_a_page_has_no_markup_in_its_sections():
    page = dedent("""\
        import { X } from "/x.jsx";

        <Tabs>
          <Tab title="CLI">
            <Steps>
              <Step title="Install it">
                Run this, or [read on](/more):

                <CodeGroup>
                ```bash npm
                npm i {x}
                  <kept>
                ```
                </CodeGroup>

                1. First
                   <Note>
                     Mind `<T>`.
                   </Note>
              </Step>
            </Steps>
          </Tab>
        </Tabs>

        ## Parameters

        <ParamField query="page_size" type="integer">
          How many.
        </ParamField>
        """)
    intro, parameters = split(to_markdown(page))
    assert intro.text.split("\n") == [
        "CLI",
        "Install it",
        "Run this, or read on:",
        "npm i {x}",
        "  <kept>",
        "First",
        "Mind <T>.",
    ]
    assert "```bash npm\nnpm i {x}\n  <kept>\n```" in intro.body
    assert parameters.text == "page_size (integer)\nHow many."


PIECES = (
    *(
        "<",
        "{",
        "}",
        ">",
        "`",
        '"',
        "'",
        "\\",
        "[",
        "](",
        "$",
        "<a ",
        "<A x={",
        "</A>",
        "<A>\n",
        "<A {...",
        "{/*",
        "{`",
    ),
    *(
        "<!--",
        "```\n",
        "~~~",
        "- ```\n",
        "import {\n",
        "export const x = (\n\n",
        "> ",
        "- ",
        "1. ",
        "<svg>",
        "<style>\n",
    ),
    *(
        "| a |\n|---|\n",
        "!!! a\n    ",
        ":::a\n",
        "[^1]: ",
        "[a]: b\n",
        "[a][b]",
        "**",
        "# ",
        "\n",
        "\n\n",
        "\t",
        "a b ",
    ),
)


def seconds(page: str) -> float:
    began = time.process_time()
    split(to_markdown(page))
    split(page)
    return time.process_time() - began


@pytest.mark.slow
@pytest.mark.parametrize("piece", first_of(PIECES, 2))
def test_a_hostile_page_costs_time_in_proportion(piece):
    small, large = (piece * (size // len(piece)) for size in (6_000, 48_000))
    # Eight times the length; squared would be 64. Whatever else the machine does may spoil one measurement, not three.
    assert any(seconds(large) < 25 * max(seconds(small), 0.02) for _ in range(3))


@pytest.mark.matrix
def test_no_mixture_of_marks_raises():
    dice = random.Random(7)
    for _ in range(300):
        page = "".join(dice.choices(PIECES, k=dice.randrange(1, 60)))
        assert split(to_markdown(page))


def read(folder, front: str, body: str = "Text.", name: str = "a.md") -> Page | UnreadablePage:
    (folder / name).write_text(f"---\n{front}\n---\n{body}")
    (page,) = build_drafts(read_folder(folder))
    return page


@pytest.mark.parametrize(
    ("front", "boost"),
    [
        ("title: x", 1.0),
        ("boost: 3", 3.0),
        ('boost: "0.25"', 0.25),
        ("boost: 1000", 10.0),
        ("boost: 1e-9", 0.1),
        ("boost: high", 1.0),
        ("boost: [2]", 1.0),
        ("boost:", 1.0),
        ("search:\n  boost: 2", 2.0),
    ],
)
def test_a_boost_is_a_number_within_bounds(tmp_path, front, boost):
    page = read(tmp_path, front)
    assert isinstance(page, Page)
    assert page.boost == boost


@pytest.mark.parametrize("number", ["0", "-1", "nan", "inf", "1e999"])
def test_a_boost_that_cannot_be_meant_is_ignored(tmp_path, number):
    page = read(tmp_path, f"boost: {number}")
    assert (page.boost, page.problems) == (1.0, (("front matter", "boost is not a positive number"),))


@pytest.mark.parametrize(
    ("front", "keywords", "tags"),
    [
        ("keywords: [sign in, SSO, SSO]", ("sign in", "SSO"), ()),
        ("keywords: sign in,  SSO,", ("sign in", "SSO"), ()),
        ("tag: deprecated\ntags: [api, deprecated]", (), ("api", "deprecated")),
        ('tag: "NEW"', (), ("NEW",)),
        ("title: x", (), ()),
    ],
)
def test_keywords_and_tags_are_lists_or_text(tmp_path, front, keywords, tags):
    page = read(tmp_path, front)
    assert isinstance(page, Page)
    assert (page.keywords, page.tags) == (keywords, tags)


@pytest.mark.parametrize(
    ("openapi", "body", "markdown"),
    [
        ("spec.json GET /v1/x", "Text.", "`GET /v1/x`\n\nText."),
        ("post /v1/x/{id}", "Text.", "`POST /v1/x/{id}`\n\nText."),
        ("GET /v1/x", "# X\n\nText.", "# X\n\n`GET /v1/x`\n\n\nText."),
        ("GET /v1/x", "Call `GET /v1/x`.", "Call `GET /v1/x`."),
        ("spec.json webhook orderUpdated", "Text.", "`webhook orderUpdated`\n\nText."),
        ("file path method", "Text.", "Text."),
    ],
)
def test_a_page_can_be_found_by_its_operation(tmp_path, openapi, body, markdown):
    page = read(tmp_path, f'openapi: "{openapi}"', body)
    assert isinstance(page, Page)
    assert page.markdown == markdown


def test_a_title_may_hold_quotes(tmp_path):
    for title in ('Say "hi"', "It's"):
        page = read(tmp_path, f"title: {title}")
        assert isinstance(page, Page)
        assert page.title == title


def test_one_bad_line_of_front_matter_hides_no_page(tmp_path):
    page = read(tmp_path, 'title: "All"\ndescription: "Many"\n  ["a", "b"]\nboost: 3')
    assert isinstance(page, Page)
    assert (page.title, page.description, page.boost) == ("All", "Many", 3.0)


def test_a_folder_holds_both_formats(tmp_path):
    (tmp_path / "a.md").write_text("Keep {x}.")
    (tmp_path / "b.MDX").write_text("---\ntitle: B\n---\nDrop {x}.")
    (tmp_path / "c.txt").write_text("No page.")
    pages = build_drafts(read_folder(tmp_path))
    assert [(page.path, page.markdown) for page in pages] == [("/a", "Keep {x}."), ("/b", "Drop .")]


def test_a_manifest_says_the_format_or_the_ending_does(tmp_path):
    (tmp_path / "a.mdx").write_text("A {x}.")
    (tmp_path / "a.md").write_text("A {x}.")
    lines = [
        {"path": "1", "file": "a.mdx", "format": "mdx"},
        {"path": "2", "file": "a.mdx"},
        {"path": "3", "file": "a.mdx", "format": "md"},
        {"path": "4", "file": "a.md", "format": "mdx"},
        {"path": "5", "file": "a.md"},
        {"path": "6", "file": "a.md", "format": "docx"},
        {"path": "7", "file": "a.md", "format": None},
        {"path": "8", "file": "a.md", "format": ["md"]},
    ]
    manifest = tmp_path / "pages.jsonl"
    manifest.write_text("\n".join(map(json.dumps, lines)))
    pages = list(build_drafts(read_manifest(tmp_path, manifest)))
    assert [getattr(page, "markdown", getattr(page, "reason", "")) for page in pages] == [
        *("A .", "A .", "A {x}.", "A .", "A {x}.", "format docx is not known", "A {x}.", "format ['md'] is not known"),
    ]
