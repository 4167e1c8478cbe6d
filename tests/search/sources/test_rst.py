"""reStructuredText becomes Markdown with the anchors of Sphinx."""

import time

import pytest

from search.sources import rst
from search.sources.rst import directives
from search.sources.rst.scope import Scope
from search.sources.rst.site import Site, Target, find_labels
from search.text import sections
from tests.variants import first_of

SITE = Site(
    titles={"guide/install": "Installing"},
    labels={"setup": Target("guide/install", "setup", "Set it up")},
    extlinks={"issue": ("https://example.com/issues/%s", "#%s")},
)


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("*a* **b** ``c_d``", "*a* **b** `c_d`"),
        (":func:`~a.b` :class:`!C` :nobody:`x`", "`b()` `C` `x`"),
        (":ref:`setup`, :ref:`there <setup>`", "[Set it up](guide/install#setup), [there](guide/install#setup)"),
        (":doc:`guide/install`, :ref:`gone`", "[Installing](guide/install), gone"),
        (":issue:`7` :pep:`8`", "[#7](https://example.com/issues/7) [PEP 8](https://peps.python.org/pep-0008/)"),
        (".. versionadded:: 2.0\n   The door.", "Added in version 2.0: The door."),
        (".. note:: Mind\n   the gap.", "**Note**\n\nMind the gap."),
        (".. code-block:: python\n   :linenos:\n\n   a = 1", "```python\na = 1\n```"),
        (".. unknown:: thing\n   :o: 1\n\n   Its **text**.", "`thing`\n\nIts **text**."),
        (".. a comment\n\ntext", "text"),
        (".. |x| replace:: *y*\n\n|x| |z|", "*y* z"),
        ("For Django version |version| and |z| |Release|.", "For Django version and z ."),
        ("a_b <tag> {{ x }} `", "a_b \\<tag> \\{\\{ x }} \\`"),
        ("term\n   Meaning.", "- **term**\n\n  Meaning."),
        ("=== ===\na   b\n=== ===\n1   2\n=== ===", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b|c\n   * - 1\n     - 2",
         "| a | b\\|c |\n| --- | --- |\n| 1 | 2 |"),
        (".. csv-table::\n   :url: https://example.com/a.csv", "```\n.. csv-table::\n   :url: https://example.com/a.csv\n```"),
        (".. list-table::\n\n   * - a\n   * text", "```\n.. list-table::\n\n   * - a\n   * text\n```"),
        (".. figure:: a.png\n   :alt: A plan\n\n   The caption.", "A plan\n\nThe caption."),
        (".. raw:: html\n\n   <b>no</b>\n\nyes", "yes"),
        (".. class:: A\n   :noindex:\n\n   Words.", "**`A`**\n\n`class A`\n\nWords."),
        (".. py:function:: f(a)\n   :module: m\n\n   Does.", "**`m.f`**\n\n`m.f(a)`\n\nDoes."),
    ],
)  # fmt: skip
def test_rst_becomes_markdown(source, markdown):
    text = rst.convert(f"Title\n=====\n\n{source}\n", SITE).markdown
    expected = markdown.replace("**`m.f`**", "## `m.f` {#m.f}")
    assert text == f"# Title\n\n{expected}\n"


@pytest.mark.parametrize(
    ("source", "heading"),
    [
        ("Set up\n------", "## Set up"),
        ("What's new?\n-----------", "## What's new? {#what-s-new}"),
        (".. _set up:\n\nSet up\n------", "## Set up"),
        (".. _other:\n\nSame\n----\n\nSame\n----", "## Same {#id1}"),
        (".. currentmodule:: m\n\n.. class:: C\n\n   .. method:: __len__()", "### `C.__len__` {#m.C.\\_\\_len\\_\\_}"),
        (".. automodule:: m\n\n   .. autoclass:: m.C(x)\n\n      .. attribute:: a", "## `C.a` {#m.C.a}"),
        (".. autoexception:: E\n\n   .. attribute:: a\n\n.. function:: f", "## `f`"),
        (".. program:: x\n\n.. option:: --no-cache <y>", "## `--no-cache <y>` {#cmdoption-x-no-cache}"),
        (".. envvar:: HOME_DIR", "## `HOME_DIR` {#envvar-HOME_DIR}"),
        (".. glossary::\n\n   Some term\n      Meaning.", "## Some term {#term-Some-term}"),
    ],
)
def test_headings_have_the_anchors_of_the_site(source, heading):
    assert heading in rst.convert(f"Title\n=====\n\n{source}\n").markdown.split("\n")


@pytest.mark.matrix
@pytest.mark.parametrize(
    "source",
    [
        "*a " * 6000,
        "\n".join("  " * depth + "- x\n" for depth in range(200)),
        "\n".join("   " * depth + ".. note::\n" for depth in range(200)),
        "\n".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|" for n in range(60)) + "\n\n|a0|\n",
        ".. |a| replace:: |b|\n.. |b| replace:: |a|\n\n|a|",
        ".. role:: a(b)\n.. role:: b(a)\n\n:a:`x`",
        "".join(f".. _l{n}:\n\n" for n in range(300)) + "x\n",
        ".. table::\n\n   +-+\n   |\n\n=====\n\x00 `a <b`_ |",
        ".. include:: index.rst\n",
        "*a* " * 200_000,
    ],
)
def test_hostile_text_is_converted_in_time(source):
    started = time.process_time()
    assert isinstance(rst.convert(source).markdown, str)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "source",
    first_of(
        [
            "\n".join(["+-" * 40 + "+", *["|x" * 40 + "|", "+-" * 40 + "+"] * 40]),
            "\n".join(["= " * 40, *["x " * 40] * 40, "= " * 40]),
            f".. csv-table::\n\n   {'a,' * 7000}\n{'   a' * 7000}",
            ".. _l:\n\n" * 1000,
            ".. unknown:: x\n\n   y\n\n" * 2000,
            "#. x\n" * 2000,
            f".. function:: f({'a, ' * 1000}",
            ".. toctree::\n   :glob:\n\n   *\n\n" * 2000,
        ],
        3,
    ),
)
def test_a_page_over_the_work_limit_becomes_plain_text(source, caplog):
    text = rst.convert(source, SITE, scope=Scope(SITE, "index", work=0)).markdown
    caplog.clear()
    assert rst.convert(source, SITE, scope=Scope(SITE, "index", work=2000)).markdown == text
    assert [record.message.partition(":")[0] for record in caplog.records] == ["index"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "source",
    first_of(
        [
            "*a\n" * 5000,  # marks that are never closed
            "word word\n" * 20_000,  # one paragraph
            ".. x\n\n" * 80_000,
            "".join(f".. _l{number}:\n\n" for number in range(5000)) + "x\n",
            ".. csv-table::\n\n   " + "a," * 4000 + "\n" + "   a\n" * 4000,
            "\n".join("  " * depth + "- x\n" for depth in range(600)),
        ],
        1,
    ),
)
def test_a_page_that_would_take_too_long_becomes_plain_text(source, caplog):
    text = rst.convert(source, SITE, scope=Scope(SITE, "index", work=0)).markdown
    assert rst.convert(source, SITE).markdown == text


def test_long_lines_and_words_are_cut():
    assert rst.convert(f"{'a' * 5000} b\n\n{'c ' * 9000}").markdown == f"{'a' * 1000} b\n\n{('c ' * 5000).strip()}\n"


def test_docutils_learns_a_limited_number_of_names(monkeypatch):
    monkeypatch.setattr(directives, "MAX_NAMES", len(directives._known_directives) + 1)
    text = rst.convert(".. first-new:: *a*\n\n.. second-new:: *b*\n").markdown
    assert text == "*a*\n\n```\n.. second-new:: *b*\n```\n"


def test_an_unexpected_error_is_logged_with_the_name_of_the_page(monkeypatch, caplog):
    monkeypatch.setattr(rst, "Writer", lambda *arguments: 1 / 0)
    assert rst.convert("*It* stands.", page="guide/install").markdown == "\\*It\\* stands."
    assert [(record.message.partition(":")[0], bool(record.exc_info)) for record in caplog.records] == [
        ("guide/install", True)
    ]


@pytest.mark.matrix
def test_many_labels_have_the_title_that_follows():
    labels = "".join(f".. _l{number}:\n\n" for number in range(30_000))
    found = dict(find_labels(f"{labels}Title\n=====\n\n.. _last:\n\nEnd\n", "page"))
    assert len(found) == 30_001
    assert {target.title for name, target in found.items() if name != "last"} == {"Title"}
    assert not list(find_labels(".. _" + "\\:" * 60 + "\n", "page"))


def test_a_described_object_is_never_the_title_of_the_page():
    assert rst.convert(".. py:function:: m.f(a)\n").markdown == "## `m.f` {#m.f}\n\n`m.f(a)`\n"


def test_roles_of_a_page_end_with_the_page():
    assert rst.convert(".. role:: mine(emphasis)\n.. default-role:: mine\n\n:mine:`x` `y`").markdown == "*x* *y*\n"
    assert rst.convert(":mine:`x` `y`").markdown == "`x` *y*\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        (".. envvar:: A_B\n\nSet it.", "`A_B`\n\nSet it."),
        (".. envvar:: A_B\n\n   Set it.\n\nEnd.", "## `A_B` {#envvar-A_B}\n\nSet it.\n\n## Title {#title}\n\nEnd."),
        (
            "S\n-\n\n.. data:: a\n\n   One.\n\nEnd.\n\nMore.\n\n.. data:: b\n\n   Two.",
            "## S\n\n### `a`\n\nOne.\n\n## S {#s}\n\nEnd.\n\nMore.\n\n### `b`\n\nTwo.",
        ),
        (
            ".. class:: C\n\n   .. method:: f()\n\n      Does.\n\n   End.",
            "## `C` {#C}\n\n`class C`\n\n### `C.f` {#C.f}\n\n`C.f()`\n\nDoes.\n\n## `C` {#C}\n\nEnd.",
        ),
        (".. setting:: DEBUG\n\nDEBUG\n-----\n\nText.", "## DEBUG\n\nText."),
        ("S\n-\n\n.. envvar:: DEBUG\n\nDEBUG\n-----\n\nText.", "## S\n\n## DEBUG\n\nText."),
        (".. setting:: DEBUG\n\nOther\n-----\n\nText.", "`DEBUG`\n\n## Other\n\nText."),
    ],
)
def test_text_belongs_to_the_page_again_behind_an_object(source, markdown):
    assert rst.convert(f"Title\n=====\n\n{source}\n", SITE).markdown == f"# Title\n\n{markdown}\n"


def test_text_behind_an_object_is_found_in_its_own_section():
    source = "Title\n=====\n\nS\n-\n\n.. data:: a\n\n   One.\n\nEnd.\n\nT\n-\n\nText."
    parts = sections.split(rst.convert(source, SITE).markdown)
    assert [(part.trail, part.anchor, part.text) for part in parts] == [
        (("S",), "s", ""),
        (("S", "a"), "a", "One."),
        (("S",), "s", "End."),
        (("T",), "t", "Text."),
    ]


@pytest.mark.parametrize(
    "source",
    [
        ".. method:: C.get(a)\n            C.aget(a)\n\n   Gets.",
        ".. method:: C.get(a)\n.. method:: C.aget(a)\n\n   Gets.",
        ".. method:: C.get(a)\n\n.. method:: C.aget(a)\n\n   Gets.",
    ],
)
def test_a_method_and_its_twin_share_a_section(source):
    text = rst.convert(source, SITE).markdown
    assert text == "## `C.get`, `C.aget` {#C.get}\n\n`C.get(a)`\n\n`C.aget(a)`\n\nGets.\n"


def test_objects_of_different_kinds_stay_apart():
    text = rst.convert(".. data:: a\n.. function:: b(c)\n\n   Does.", SITE).markdown
    assert text == "## `a`\n\n## `b`\n\n`b(c)`\n\nDoes.\n"


def test_the_signatures_of_one_function_have_one_name():
    text = rst.convert(".. function:: f(a)\n              f(a, b)\n\n   Does.", SITE).markdown
    assert text == "## `f`\n\n`f(a)`\n\n`f(a, b)`\n\nDoes.\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        (".. console::\n\n   $ pip install *x*\n   $ x --y", "```console\n$ pip install *x*\n$ x --y\n```"),
        (".. my-shell::\n\n   a *b*\n   c", "```\na *b*\nc\n```"),
        (".. mine::\n\n   >>> a\n   1", "```\n>>> a\n1\n```"),
        (".. mine::\n\n   ...\\> py -m x", "```\n...\\> py -m x\n```"),
        (".. mine::\n\n   A *text*.", "A *text*."),
    ],
)
def test_the_code_of_an_unknown_directive_stays_code(source, markdown):
    assert rst.convert(source, SITE).markdown == f"{markdown}\n"


@pytest.mark.parametrize("option", ["--from=a@b", "--from=a@b.org", "tool@1.2.3", "user@host"])
def test_an_option_that_looks_like_an_address_is_no_link(option):
    assert rst.convert(f"Use {option} here.", SITE).markdown == f"Use {option} here.\n"


def test_a_mail_address_is_a_link():
    assert rst.convert("Write to a.b@c.org.", SITE).markdown == "Write to [a.b@c.org](mailto:a.b@c.org).\n"
