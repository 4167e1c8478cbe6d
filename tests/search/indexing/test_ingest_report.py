"""The report of an ingest: what was found, read and lost, on the terminal, in the admin and as JSON."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from search.admin.sources import describe_state
from search.indexing import report
from search.indexing.ingest import reindex
from search.models import Document
from search.sources import Page, Problem
from search.text.sections import split
from tests.variants import first_of

FILES = {
    "mkdocs.yml": "site_name: A\n",
    "docs/a.md": "---\ntitle: @a\nlanguage: de\nversion: 2\n---\n# A\n\n## One\n\n"
    "See [b](b.md#two), [c](b.md#three), [d](#one).",
    "docs/b.md": '# B\n\n## Two\n\n```py\n--8<-- "gone.py"\n```\n\n```sh\n```\n\n## Empty\n\n'
    '## Last\n\n<a id="own"></a>x [o](#own)',
    "docs/c.md": "---\ndraft: true\n---\nC",
    "docs/d.md": "---\nunlisted: true\n---\nD",
    "docs/e.adoc": "= E",
}


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def ingest(tenant, *arguments):
    out = io.StringIO()
    stderr = io.StringIO() if "--json" in arguments else out
    call_command("ingest", tenant.domain, *map(str, arguments), stdout=out, stderr=stderr)
    return out.getvalue()


def read_json(tenant, *arguments):
    return json.loads(ingest(tenant, *arguments, "--json"))["report"]


def test_it_says_what_was_read_and_what_was_lost(make_project, tmp_path):
    tenant = make_project()
    root = write(tmp_path, FILES)
    (root / "docs" / "f.md").write_bytes(b"\xff")
    printed = ingest(tenant, root)
    found = read_json(tenant, root)  # nothing has changed, and the report is the same
    assert {name: found[name] for name in ("found", "read", "languages", "versions")} == {
        **{"found": 6, "read": 2, "languages": {"de": 1, "": 1}, "versions": {"2": 1, "": 1}},
    }
    assert [(rule["count"], rule["examples"]) for rule in found["leftOut"]] == [
        *((1, [f"docs/{name}"]) for name in ("c.md", "d.md")),
        (1, ["docs/e.adoc"]),
    ]
    assert found["skipped"] == [{"reason": "is not UTF-8", "count": 1, "examples": ["docs/f.md"]}]
    assert found["code"] == {"count": 2, "empty": 1, "examples": ["/b"]}
    assert found["sections"] == {"count": 4, "empty": 1, "examples": ["/b"]}
    assert found["problems"] == {
        "front matter": {"count": 1, "examples": ["/a: line 2 is not YAML: title: @a"]},
        "include": {"count": 1, "examples": ["/b: gone.py"]},
    }
    assert found["anchors"] == {"count": 4, "missing": 1, "examples": ["/a to /b#three"]}
    assert found["addresses"] == ["https://docs.acme.example/a/", "https://docs.acme.example/b/"]
    for line in report.describe(found):
        assert line in printed
    state = describe_state(tenant.project.sources.get())
    assert "include, 1 not understood (/b: gone.py)" in state["report_lines"]
    reindex(tenant.project)
    assert read_json(tenant, root) == found


MKDOCS = {"mkdocs.yml": "site_name: A"}
ADVICE = {
    "no generator": ({"a.md": "# A"}, "No generator was recognized"),
    "no generator, but a built site": ({"a.md": "# A", "dist/index.html": "<p>A"}, "read its folder dist"),
    "no generator is the cause of what else is lost": (
        {"a.md": "# A", "a/index.md": "# A", "b.adoc": ""},
        "No generator was recognized",
    ),
    "lost code": ({**MKDOCS, "docs/a.md": '```\n--8<-- "../x"\n```'}, "1 of 2 code blocks and includes are lost"),
    "one address": ({"a.md": "# A", "a/index.md": "# A", "a.mdx": "A", "z.md": "Z"}, "Several pages have one address"),
    "other formats": ({**MKDOCS, "docs/a.md": "A", "docs/b.adoc": "", "docs/c.org": ""}, "2 files are in other"),
    "shortcodes": (
        {"hugo.toml": "title = 'A'", "content/a.md": "{{< a >}}"},
        "Shortcodes were not understood. The built",
    ),
    "anchors without a generator": ({"a.md": "# A\n\n[a](#none) [b](#no)"}, "so check that the reported addresses"),
    "anchors": ({**MKDOCS, "docs/a.md": "# A\n\n[a](#none)"}, "Many links lead to anchors"),
    "nothing": ({**MKDOCS, "docs/a.md": "# A\n\n[a](#a)"}, ""),
}


@pytest.mark.parametrize(("files", "advice"), first_of(ADVICE.values(), 2, ids=ADVICE))
def test_it_advises_what_would_mend_most(make_project, tmp_path, files, advice):
    found = read_json(make_project(), write(tmp_path, files))
    assert advice in found["advice"]
    assert bool(advice) == bool(found["advice"])


def test_it_advises_to_read_the_repository_that_has_the_included_files(make_project, tmp_path):
    root = write(tmp_path, {".git/HEAD": "", "part/mkdocs.yml": "site_name: A", "part/docs/a.md": '--8<-- "../../x"'})
    advice = read_json(make_project(), root / "part")["advice"]
    assert advice == f"Pages include files outside of this folder. Read the repository: {root.resolve()}"


def test_an_owner_chooses_which_losses_keep_the_old_index(make_project, tmp_path):
    tenant = make_project()
    root = write(tmp_path, FILES)
    with pytest.raises(CommandError, match="the old one stays"):
        ingest(tenant, root, "--fail-on", "anchors,code")
    assert not Document.objects.filter(project=tenant.project).exists()
    assert "2 added" in ingest(tenant, root, "--fail-on", "skipped,shortcodes")
    with pytest.raises(CommandError, match="the old one stays"):
        ingest(tenant, root, "--fail-on", "front-matter")  # also where nothing has changed
    with pytest.raises(CommandError, match="none of skipped"):
        ingest(tenant, root, "--fail-on", "weather")


def test_a_number_that_falls_by_more_than_a_tenth_is_a_warning_before_the_swap(make_project, tmp_path):
    tenant = make_project()
    root = write(tmp_path, {f"{number}.md": "# A\n\n```\na\n```" for number in range(10)})
    ingest(tenant, root, "--name", "docs")
    (root / "9.md").unlink()
    assert "when it was last read" not in ingest(tenant, root, "--name", "docs")
    (root / "8.md").unlink()
    for _ in range(2):  # what was refused is not what the next read is compared with
        with pytest.raises(CommandError, match="the old one stays"):
            ingest(tenant, root, "--name", "docs", "--strict")
    printed = ingest(tenant, root, "--name", "docs")
    assert "The source has 8 pages. It had 9 when it was last read." in printed
    assert "The source has 8 code blocks. It had 9" in printed


CODE = {
    "fences": ("```\na\n```\n\n~~~\nb\n~~~", (2, 0)),
    "empty": ("```js\n```\n\n- ```\n\n  ```\n\n> ```\n>\n> ```", (3, 3)),
    "side by side": ("```\na\n```\n```\nb\n```", (2, 0)),
    "fences in a fence": ("````\n```\n```\n````", (1, 0)),
    "without an end": ("```\na", (0, 0)),
}


@pytest.mark.parametrize(("markdown", "counts"), CODE.values(), ids=CODE)
def test_code_is_counted(markdown, counts):
    page = Page("a.md", "/a", markdown, problems=(Problem("include", "x"),))
    found = report.diagnose(page, split(markdown))
    assert (found.get("code", 0), found.get("emptyCode", 0)) == counts
    assert found["problems"] == [["include", "x"]]


def test_a_source_without_a_readable_page_says_what_it_has(make_project, tmp_path):
    out = io.StringIO()
    root = write(tmp_path, {"a.adoc": "= A", "b.adoc": "= B", "c.md": "---\ndraft: true\n---\nC"})
    with pytest.raises(CommandError, match="no readable page"):
        call_command("ingest", make_project().domain, str(root), stdout=out, stderr=out)
    assert "left out, 2: is AsciiDoc, which is not read here: read the built site (a.adoc, b.adoc)" in out.getvalue()


LOSSES = {  # a folder, the kind of what it loses, and what the report says of it
    "a file of Sphinx": ({"conf.py": "", "a.rst": "A\n=\n\n.. literalinclude:: gone.py\n"}, "include", "/a: gone.py"),
    "a file of MyST": (
        {"conf.py": "extensions = ['myst_parser']", "a.md": "# A\n\n```{include} gone.md\n```\n", "b.rst": "B\n="},
        "include",
        "/a: gone.md",
    ),
    "markup of Sphinx": ({"conf.py": "", "a.rst": f"A\n=\n\n{'(' * 200_000}"}, "markup", "/a: is shown as plain text"),
    "a setting": (
        {"book.toml": "[preprocessor.toc]\n", "src/a.md": "A"},
        "configuration",
        "preprocessor toc of book.toml is not run here",
    ),
}


@pytest.mark.parametrize(("files", "kind", "example"), first_of(LOSSES.values(), 2, ids=LOSSES))
def test_it_says_what_a_page_or_its_site_loses(make_project, tmp_path, files, kind, example):
    problems = read_json(make_project(), write(tmp_path, files))["problems"]
    assert problems == {kind: {"count": 1, "examples": [example]}}
