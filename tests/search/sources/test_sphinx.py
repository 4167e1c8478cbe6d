"""A Sphinx project becomes pages where its site has them."""

import os
import re

import pytest

from search.sources import Draft, ExcludedPage, PageRedirect, UnreadablePage
from search.sources.request import SourceRequest
from search.sources.rst import includes
from search.sources.sphinx.folder import read, recognizes


@pytest.fixture
def folder(tmp_path):
    """A repository with documentation in docs/."""

    def write(files):
        for name, text in {"docs/conf.py": "project = 'x'\n", **files}.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return write


def drafts(root):
    return {item.path: item for item in read(SourceRequest(str(root), "")) if isinstance(item, Draft)}


FOLDERS = {  # other files, the folder of two pages, and whether its conf.py counts
    "deep": (["README.md"], "a/b/manual/", True),
    "below another": (["tools/conf.py"], "tools/text/", True),
    "beside an example": (["tests/data/conf.py", "tests/data/x.rst"], "text/sphinx/", True),
    "of few pages": (["a.md", "b.md", "c.md"], "tests/data/", False),
    "below another generator": (["mkdocs.yml"], "text/sphinx/", False),
}


@pytest.mark.parametrize(("others", "docs", "counts"), FOLDERS.values(), ids=FOLDERS)
def test_the_nearest_conf_py_above_the_pages_makes_the_addresses(tmp_path, others, docs, counts):
    for name in (*others, f"{docs}conf.py", f"{docs}a.rst", f"{docs}b.rst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("extensions = []\n" if name.endswith("conf.py") else "Title\n=====\n")
    assert recognizes(SourceRequest(str(tmp_path), "")) == counts
    if counts:
        assert {draft.address for draft in drafts(tmp_path).values()} == {"a.html", "b.html"}


def test_references_become_links_with_the_titles_of_other_files(folder):
    root = folder(
        {
            "docs/a/one.rst": "One\n===\n\n:ref:`deep` :doc:`/two`\n",
            "docs/two.rst": "Two\n===\n\n.. _Deep:\n\nDown there\n----------\n",
        }
    )
    page = drafts(root)["/a/one"].build()
    assert page.markdown == "# One\n\n[Down there](../two#deep) [Two](../two)\n"
    assert page.address == "a/one.html"


def test_the_digest_of_a_draft_depends_on_the_titles_of_its_references(folder):
    files = {"docs/one.rst": "One\n===\n\n:doc:`two`\n", "docs/two.rst": "Two\n===\n", "docs/three.rst": "Three\n"}
    before = drafts(folder(files))
    after = drafts(folder({"docs/two.rst": "Second\n======\n"}))
    assert before["/one"].digest != after["/one"].digest
    assert before["/three"].digest == after["/three"].digest


@pytest.mark.parametrize(
    "page",
    [
        ".. toctree::\n   :glob:\n\n   part/*\n",
        "..  literalinclude ::  part/a.rst\n",
        ".. include::\n   part/a.rst\n",
        ".. csv-table::\n   :File: part/a.rst\n",
        "It`s :doc:`part/a`\n",
        "|there|\n",
    ],
)
def test_the_digest_of_a_draft_changes_when_its_page_changes(folder, page):
    conf = "project = 'x'\nrst_epilog = '.. |there| replace:: :doc:`part/a`'\n"
    files = {"docs/conf.py": conf, "docs/index.rst": page, "docs/part/a.rst": "One\n===\n"}
    before = drafts(folder(files))["/"]
    markdown = before.build().markdown
    after = drafts(folder({**files, "docs/part/a.rst": "Two\n===\n"}))["/"]
    assert (markdown != after.build().markdown, before.digest != after.digest) == (True, True)


def test_the_digest_of_a_table_of_contents_changes_with_a_new_page(folder):
    before = drafts(folder({"docs/index.rst": ".. toctree::\n   :glob:\n\n   *\n", "docs/a.rst": "A\n==\n"}))["/"]
    assert before.digest != drafts(folder({"docs/b.rst": "B\n==\n"}))["/"].digest


def test_conf_py_with_values_that_double_in_size_is_loaded(folder):
    doubled = "\n".join(f"a{number + 1} = [a{number}, a{number}]" for number in range(60))
    summed = "b = 'x'\n" + "b = b + b\n" * 60
    conf = f"project = 'x'\na0 = []\n{doubled}\n{summed}\n{' ' * 9}\nlanguage = 'de'\n"
    assert drafts(folder({"docs/conf.py": conf, "docs/index.rst": "Hi\n"}))["/"].build().language == "de"


@pytest.mark.matrix
def test_included_code_is_parsed_once_and_limited(folder):
    includes._parse_python.cache_clear()
    code = "class A:\n    def b(self):\n        pass\n\n\n" + "x = 1\n" * 20_000
    page = ".. literalinclude:: a.py\n   :pyobject: A.b\n\n" * 40 + ".. literalinclude:: a.py\n\n" * 50
    root = folder({"docs/a.py": code, "docs/index.rst": page})
    converted = drafts(root)["/"].build()
    assert includes._parse_python.cache_info().misses == 1
    assert converted.markdown.startswith("```python\n    def b(self):\n        pass\n```\n")
    assert len(converted.markdown) <= 2 * 1024 * 1024


def test_a_file_whose_name_is_not_utf_8_is_bad(folder):
    root = folder({"docs/index.rst": ".. toctree::\n   :glob:\n\n   *\n"})
    (root / os.fsdecode(b"docs/caf\xe9.rst")).write_text("Title\n=====\n")
    unreadable = [item for item in read(SourceRequest(str(root), "")) if isinstance(item, UnreadablePage)]
    assert [item.reason for item in unreadable] == ["has a name that is not UTF-8"]


@pytest.mark.parametrize("name", ["docs/conf.py", ".readthedocs.yaml"])
def test_no_settings_outside_the_root_are_read(folder, tmp_path_factory, name):
    secret = tmp_path_factory.mktemp("elsewhere") / "settings"
    secret.write_text("sphinx:\n  builder: dirhtml\n" if name.endswith("yaml") else "html_link_suffix = '.secret'\n")
    root = folder({"docs/a.rst": "A\n==\n", "docs/b.rst": "B\n==\n"})
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to(secret)
    assert [item.build().address.rpartition("/")[2] for item in drafts(root).values()] == ["a.html", "b.html"]


def test_conf_py_is_loaded_and_never_run(folder, tmp_path):
    ran = tmp_path / "ran"
    conf = f"open({str(ran)!r}, 'w')\nexclude_patterns = ['old*', 'x/**']\nredirects = {{'gone': 'now.html'}}\n"
    root = folder(
        {"docs/conf.py": f"project = 'x'\n{conf}", "docs/now.rst": "Now\n", "docs/old.rst": "", "docs/x/y.rst": ""}
    )
    items = list(read(SourceRequest(str(root), "")))
    assert [item.path for item in items if isinstance(item, Draft)] == ["/now"]
    assert items[-1] == PageRedirect("/gone", "/now")
    assert not ran.exists()


def test_nothing_outside_the_root_is_included(folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("secret")
    root = folder({"CHANGES.txt": "Inside.\n"})
    (root / "docs/link.txt").symlink_to(secret)
    named = (
        "include:: ../CHANGES.txt",
        f"include:: {secret}",
        "include:: link.txt",
        f"literalinclude:: ../../{secret}",
    )
    (root / "docs/index.rst").write_text("".join(f".. {directive}\n\n" for directive in named))
    assert drafts(root)["/"].build().markdown == "Inside.\n"


def test_a_page_with_nosearch_is_excluded(folder):
    pages = {"index.rst": ":nosearch:\n\nHome\n====\n", "a.md": "---\nnosearch: true\n---\n# A"}
    pages |= {"conf.py": MYST, "b.md": "---\nnosearch: false\n---\n# B"}
    root = folder({f"docs/{name}": text for name, text in pages.items()})
    excluded = {path for path, draft in drafts(root).items() if isinstance(draft.build(), ExcludedPage)}
    assert excluded == {"/", "/a"}


@pytest.mark.parametrize(("name", "address"), [("index", ""), ("a/b", "a/b/"), ("a/index", "a/")])
def test_pages_have_folder_addresses_with_the_dirhtml_builder(folder, name, address):
    root = folder({".readthedocs.yaml": "sphinx:\n  builder: dirhtml\n", f"docs/{name}.rst": "Page\n====\n"})
    assert next(iter(drafts(root).values())).build().address == address


MYST = "extensions = ['myst_parser']\nmyst_heading_anchors = 2\nexclude_patterns = ['part']\n"
OTHER = "# The *other*\n\n(lab)=\n## What's new?\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("{ref}`lab`, {ref}`text <lab>`", "[What's new?](other#what-s-new), [text](other#what-s-new)"),
        ("{doc}`other`, [](other.md)", "[The other](other), [The other](other)"),
        ("[a](other.md#whats-new), [](#lab)", "[a](other#what-s-new), [What's new?](other#what-s-new)"),
        ("[`x.y`](x.y) `{ref}` {class}`~a.B`", "`x.y` `{ref}` `B`"),
        ("```{note}\nMind it.\n```", "**Note**\n\nMind it."),
        (":::{tip}\n:class: x\n\n```python\n(a)=\n```\n:::", "**Tip**\n\n```python\n(a)=\n```"),
        ("```{versionadded} 2.0 The door.\n```", "Added in version 2.0: The door."),
        ("```{include} part/one.md\n:start-after: cut\n```", "From {file}."),
        ("```{include} ../../secret.md\n```", ""),
        ("```{eval-rst}\n.. note:: *Rest* and :doc:`other`\n```", "**Note**\n\n*Rest* and [The other](other)"),
        ("```{toctree}\nother\n```", "- [The other](other)"),
        ("## What's it?", "## What's it? {#what-s-it}"),
        ("(here)=\n## a\n\n## a", "## a\n\n## a {#id1}"),
        ("## a\n\n(here)=\n## a", "## a\n\n## a {#here}"),
        ("## a\n\n## a\n\n## b\n\n## a", "## a\n\n## a {#id1}\n\n## b\n\n## a {#id2}"),
        (f"## a{' ' * 50_000}b", f"## a{' ' * 50_000}b"),
        ("```{glossary}\nA term\n  Its *meaning*.\n```", "## A term {#term-A-term}\n\nIts *meaning*."),
        ("```{py:function} m.run(a)\nRuns.\n```", "## `m.run` {#m.run}\n\n`m.run(a)`\n\nRuns."),
        ("```{console}\n$ pip install *x*\n```", "```console\n$ pip install *x*\n```"),
        ("```{aside}\nA *text*.\n```", "A *text*."),
    ],
)
def test_myst_is_markdown_with_the_anchors_and_links_of_the_site(folder, source, markdown):
    files = {"docs/conf.py": MYST, "docs/other.md": OTHER, "docs/part/one.md": "cut\n\nFrom {file}.\n"}
    page = drafts(folder({**files, "docs/page.md": f"# Page\n\n{source}\n", "secret.md": "secret"}))["/page"].build()
    assert re.sub(r"\n{3,}", "\n\n", page.markdown).strip() == f"# Page\n\n{markdown}".strip()


def test_included_text_has_the_limits_of_a_page(folder):
    page = ".. include:: long.txt\n\n.. include:: long.txt\n"
    root = folder({"docs/long.txt": f"{'word ' * 1000}\n\n" * 60, "docs/index.rst": page})
    assert drafts(root)["/"].build().markdown == page.strip()


def test_an_option_directive_of_a_project_has_the_anchor_of_its_command(folder):
    conf = "extensions = []\n\ndef setup(app):\n    app.add_object_type('django-admin', 'djadmin')\n"
    page = "A\n=\n\n.. django-admin:: check [label]\n\n.. django-admin-option:: --deploy\n"
    converted = drafts(folder({"docs/conf.py": conf, "docs/a.rst": page}))["/a"].build()
    assert "{#django-admin-check}" in converted.markdown
    assert "{#cmdoption-check-deploy}" in converted.markdown


def test_the_digest_of_a_myst_draft_depends_on_its_links_and_includes(folder):
    page = "# One\n\n[](other.md#whats-new)\n\n```{include} part/one.md\n```\n"
    root = folder({"docs/conf.py": MYST, "docs/other.md": OTHER, "docs/page.md": page, "docs/part/one.md": "a"})
    first = drafts(root)["/page"].digest
    second = drafts(folder({"docs/conf.py": MYST, "docs/part/one.md": "b"}))["/page"].digest
    third = drafts(folder({"docs/conf.py": MYST, "docs/other.md": OTHER.replace("new", "old")}))["/page"].digest
    assert len({first, second, third}) == 3


def test_a_folder_of_markdown_is_not_a_sphinx_project(tmp_path):
    (tmp_path / "README.rst").write_text("x")
    (tmp_path / "page.md").write_text("x")
    assert not recognizes(SourceRequest(str(tmp_path), ""))
