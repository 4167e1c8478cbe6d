"""A folder of Markdown: which files are pages, what they take in, and what they say of themselves."""

import json
import os
import time

import pytest
import yaml

from search.sources import Draft, ExcludedPage, Page, PageRedirect, UnreadablePage
from search.sources.markdown.folder import read_folder, read_manifest
from search.sources.markdown.front_matter import split_front_matter
from search.sources.markdown.includes import MAX_DEPTH
from search.sources.request import SourceRequest
from search.text.sections import split
from tests.drafts import build_drafts
from tests.variants import first_of

MKDOCS = "site_name: Acme\n"


def read(root, **request):
    return list(build_drafts(read_folder(root, SourceRequest(str(root), "https://acme.example/", **request))))


def pages(root, **request):
    return {item.path: item for item in read(root, **request) if isinstance(item, Page)}


@pytest.mark.parametrize(
    "front",
    [
        "searchable: false",
        "search: false",
        "search:\n  exclude: true",
        "draft: true",
        "unlisted: true",
        "noindex: true",
    ],
)
def test_a_page_may_ask_not_to_be_found(write, front):
    root = write({"a.md": f"---\n{front}\n---\nText.", "b.md": "---\ndraft: false\nsearchable: true\n---\nText."})
    left, page = read(root)
    assert isinstance(left, ExcludedPage)
    assert left.origin == "a.md"
    assert front.split(":")[0] in left.reason
    assert page.path == "/b"


def test_what_a_manifest_lists_is_found_whatever_it_says(write):
    root = write({"a.md": "---\nhidden: true\n---\nText.", "pages.jsonl": json.dumps({"path": "a", "file": "a.md"})})
    (page,) = build_drafts(read_manifest(root, root / "pages.jsonl"))
    assert isinstance(page, Page)


def test_a_manifest_with_a_generator_has_its_addresses_and_anchors(write):
    entry = {"path": "guide/install", "file": "x.md"}
    root = write({"x.md": "## What's new?\n", "pages.jsonl": json.dumps(entry)})
    (plain,) = build_drafts(read_manifest(root, root / "pages.jsonl"))
    request = SourceRequest(str(root), "https://acme.example", generator="vitepress")
    (named,) = build_drafts(read_manifest(root, root / "pages.jsonl", request))
    assert (plain.path, plain.address, plain.markdown) == ("/guide/install", "", "## What's new?\n")
    assert (named.path, named.address) == ("/guide/install", "guide/install.html")
    assert named.markdown == "## What's new? {#what-s-new}\n"


def test_former_places_lead_to_the_page(write):
    front = "redirect_from:\n  - /old/\n  - https://other.example/x\naliases: [A nickname, /older.html]"
    root = write({"new.md": f"---\n{front}\n---\nText."})
    assert [item for item in read(root) if isinstance(item, PageRedirect)] == [
        PageRedirect("/old", "/new"),
        PageRedirect("/older", "/new"),
    ]


def test_what_is_no_text_is_told(write, tmp_path):
    (tmp_path / "secret.md").write_text("Secret.")
    root = write({"fine.md": "Text.", ".hidden/a.md": "x", "node_modules/p/README.md": "x"})
    (root / "latin.md").write_bytes(b"caf\xe9")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "loop.md").symlink_to("loop.md")
    (root / "large.md").write_bytes(b"x" * (5 * 1024 * 1024 + 1))
    (root / os.fsdecode(b"caf\xe9.md")).write_text("Text.")
    os.mkfifo(root / "pipe.md")
    bad = {item.origin: item for item in read(root) if isinstance(item, UnreadablePage)}
    assert {origin: item.reason for origin, item in bad.items()} == {
        "latin.md": "is not UTF-8",
        "caf\udce9.md": "has a name that is not UTF-8",
        "pipe.md": "is no file",
        "link.md": "lies outside the source folder",
        "loop.md": "is a link that leads to itself",
        "large.md": "is larger than 5 MiB",
    }
    assert bad["latin.md"].path == "/latin"
    assert list(pages(root)) == ["/fine"]


def test_a_draft_is_known_again_until_something_in_it_changes(write):
    root = write({"mkdocs.yml": MKDOCS, "docs/a.md": '# A\n\n--8<-- "docs/part.txt"\n', "docs/part.txt": "one"})

    def digest():
        (draft,) = read_folder(root)
        assert isinstance(draft, Draft)
        return draft.digest

    first = digest()
    assert digest() == first
    (root / "docs/part.txt").write_text("two")
    second = digest()
    (root / "mkdocs.yml").write_text("site_name: Acme\nuse_directory_urls: false\n")
    assert len({first, second, digest()}) == 3


def test_a_heading_has_the_anchor_that_it_gives_beside_its_classes(write):
    page = pages(write({"a.md": "## Words { .new #Here }\n\nText { .new }"}))["/a"]
    (part,) = split(page.markdown)
    assert (part.heading, part.anchor, part.text) == ("Words", "Here", "Text")


SNIPPETS = {
    "a file": ('--8<-- "part.md"', "One.\n\nTwo."),
    "its lines": ('--8<-- "part.md:3:3"', "Two."),
    "from a line on": ('--8<-- "part.md:3"', "Two."),
    "a section": ('```py\n--8<-- "code.py:main"\n```', "```py\nmain()\n```"),
    "with its margin": ('- x\n\n    --8<-- "part.md:1:1"', "- x\n\n    One."),
    "a block of files": ("--8<--\npart.md\n; none.md\n--8<--", "One.\n\nTwo."),
    "code as FastAPI's site has it": ("{* code.py ln[2] hl[2] *}", "```py\nmain()\n```"),
    "markdown-include": ("{!part.md!}", "One.\n\nTwo."),
    "a file that is missing": ('--8<-- "none.md"', '--8<-- "none.md"'),
    "a file outside": ('--8<-- "../secret.md"', '--8<-- "../secret.md"'),
    "a link that leads outside": ('--8<-- "link.md"', '--8<-- "link.md"'),
    "an address": ('--8<-- "https://x.example/a.md"', '--8<-- "https://x.example/a.md"'),
}


@pytest.mark.parametrize(("source", "expected"), SNIPPETS.values(), ids=SNIPPETS)
def test_mkdocs_takes_files_in(write, tmp_path, source, expected):
    code = "# --8<-- [start:main]\nmain()\n# --8<-- [end:main]\n"
    root = write({"mkdocs.yml": MKDOCS, "docs/a.md": source, "part.md": "One.\n\nTwo.\n", "code.py": code})
    (tmp_path / "secret.md").write_text("Secret.")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    assert pages(root)["/a"].markdown == expected


def test_imported_mdx_takes_the_place_of_its_component(write):
    page = 'import Part from "/snippets/part.mdx";\n\n<Steps>\n  <Part name="x" />\n</Steps>\n\n```jsx\n<Part />\n```\n'
    part = '---\ntitle: No page\n---\nimport Icon from "/icon.jsx"\n\nWords of **mine**.\n'
    files = {"docs.json": '{"navigation": {"pages": ["a", "b"]}}', "a.mdx": page, "snippets/part.mdx": part}
    root = write({**files, "b.mdx": '<Snippet file="part.mdx" />'})
    found = pages(root)
    assert list(found) == ["/a", "/b"]
    assert found["/a"].markdown.strip() == "Words of **mine**.\n\n```jsx\n<Part />\n```"
    assert found["/b"].markdown.strip() == "Words of **mine**."


def test_vitepress_takes_files_in_outside_code(write):
    page = "<!--@include: ./part.md{2,}-->\n\n<<< @/code.py#main{1}\n\n```md\n<!--@include: ./part.md-->\n```"
    root = write({
        ".vitepress/config.ts": "export default {}",
        "a.md": page,
        "part.md": "One.\nTwo.",
        "code.py": "# region main\nmain()\n# endregion main\n",
    })  # fmt: skip
    expected = "Two.\n\n```py\nmain()\n```\n\n```md\n<!--@include: ./part.md-->\n```"
    assert pages(root)["/a"].markdown == expected


def test_files_that_take_in_each_other_end(write):
    chain = {f"{n}.txt": f'{n}\n--8<-- "{n + 1}.txt"\n' for n in range(MAX_DEPTH + 3)}
    twice = "\n".join(['--8<-- "bomb.txt"'] * 9)
    root = write({
        "mkdocs.yml": MKDOCS, "docs/a.md": '--8<-- "0.txt"', "docs/b.md": 'B\n--8<-- "docs/b.md"', **chain,
        "docs/c.md": '--8<-- "first.txt"', "first.txt": twice, "bomb.txt": "x" * 900_000,
    })  # fmt: skip
    found = pages(root)
    assert found["/a"].markdown == "\n".join(["0", "1", "2", "3", "4", '--8<-- "5.txt"'])
    assert found["/b"].markdown == 'B\n--8<-- "docs/b.md"'
    assert 3_000_000 < len(found["/c"].markdown) < 5_000_000


HOSTILE = {
    "the same lines over and over": ('--8<-- "long.txt:' + ",".join([":"] * 450) + '"\n') * 4,
    "the same long line over and over": '--8<-- "line.txt:' + ",".join(["1:1"] * 230) + '"',
    "a wide margin": " " * 900 + '--8<-- "long.txt"',
    "many that are missing": '--8<-- "none.txt"\n' * 100_000,
    "a long line of marks": '--8<-- "marks.txt"',
    "spaces that end nowhere": ("{!" + " " * 990 + "x\n") * 20,
}


@pytest.mark.matrix
@pytest.mark.parametrize("page", first_of(HOSTILE.values(), 1, ids=HOSTILE))
def test_what_is_taken_in_does_not_multiply(write, page):
    root = write({
        "mkdocs.yml": MKDOCS, "docs/a.md": page, "long.txt": "x\n" * 500_000,
        "line.txt": "x" * 500_000 + "\n" * 500_000, "marks.txt": "-" * 200_000,
    })  # fmt: skip
    began = time.process_time()
    draft = list(read_folder(root))[-1]
    assert len(draft.build().markdown) < 5_000_000
    assert time.process_time() - began < 5


def test_region_marks_are_found_in_time(write):
    strange = "region" + " " * 20_000 + "x y\nregion" + "-" * 20_000 + "y!x\n"
    root = write({".vitepress/config.ts": "export default {}", "a.md": "<<< ./code.txt", "code.txt": strange})
    began = time.process_time()
    assert strange.strip() in pages(root)["/a"].markdown
    assert time.process_time() - began < 5


@pytest.mark.parametrize("line", ["<A" + " " * 990, 'import "' + " " * 980 + "x"], ids=["component", "import"])
def test_components_are_found_in_time(write, line):
    root = write({"docs.json": '{"navigation": {}}', "a.mdx": "import A from './b.mdx'\n" + f"{line}\n" * 1000})
    began = time.process_time()
    (draft,) = read_folder(root)
    assert draft.origin == "a.mdx"
    assert time.process_time() - began < 2


def test_a_manifest_names_html_and_restructuredtext(tmp_path):
    (tmp_path / "a.html").write_text("<title>A</title><h1>A</h1><h2 id=x1>More</h2><p>See <a href=c>c</a>.")
    (tmp_path / "b.txt").write_text("B\n=\n\n.. _here:\n\nPart\n----\n\nSee :ref:`here`.\n")
    (tmp_path / "c.htm").write_text("<meta name=robots content=noindex><p>C")
    lines = ('{"path": "/x/a", "file": "a.html"}', '{"path": "/b", "file": "b.txt", "format": "rst", "title": "Own"}')
    (tmp_path / "list.jsonl").write_text("\n".join((*lines, '{"path": "/c", "file": "c.htm"}')))
    request = SourceRequest(str(tmp_path), "https://acme.example/docs/")
    one, two, three = build_drafts(read_manifest(tmp_path, tmp_path / "list.jsonl", request))
    assert (one.path, one.title, one.markdown.strip()) == (
        "/x/a",
        "A",
        "# A\n\n## More {#x1}\n\nSee [c](https://acme.example/docs/x/c).",
    )
    assert (two.title, [part.anchor for part in split(two.markdown, two.title)]) == ("Own", ["part"])
    assert three.reason == "says noindex"


@pytest.mark.parametrize(
    "front",
    [
        "title: Don't (yet) {id}\nopenapi: GET /a/{b}, c_d",
        'title: "Größe — ‘a’: [b] # c"  \nshort: \'a "b" c\'',
        "a: 1.10\na: no\nb: 2026-01-01\n_c: null",
        "a: b # c\nd: [e, f]\ng: h: i",
        "a: b\n  c\nd:\n- e",
        'a: "b\\nc"\nd: "e\n  f"',
        "a: b\u2028c\nd: 'it''s'",
        "a: b \nc: d\t\ne: -f",
        "a: &x b\nc: *x",
        "a:  b\n\nc: d\n",
        "a: b\\c",
        "a: b {",
    ],
)
def test_simple_front_matter_says_what_yaml_says(front):
    try:
        expected = yaml.load(front, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        expected = None
    found, body = split_front_matter(f"---\n{front}\n---\nText")
    assert body == "Text"
    if expected:
        assert list(found.items()) == list(expected.items())


def test_a_title_stays_with_its_block_and_an_empty_call_out_has_none():
    code = "```py\n" + "x = 1\n" * 150 + "```"
    parts = [
        part.body for part in split(f"# A\n\n{'word ' * 350}\n\n**Python 3.9+**\n\n{code}\n\n## B\n\nText.\n\n**Note**")
    ]
    assert parts == ["word " * 349 + "word", f"**Python 3.9+**\n\n{code}", "Text."]
