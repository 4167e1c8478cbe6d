"""What mdBook takes into a page, and what it hides of it. The files are written for the tests."""

import time

import pytest

from search.sources.markdown.generators import mdbook
from tests.search.sources.generators.test_site_headings import read_pages
from tests.variants import first_of

CODE = """\
// ANCHOR: all
fn main() {
    // ANCHOR: call
    call();
    // ANCHOR_END: call
}
// ANCHOR_END: all
"""
FILES = {
    "book/book.toml": "[book]\n[output.html.code.hidelines]\npython = '~'\n",
    "book/src/part.md": "Words of `{{#include code/name.txt}}`.",
    "book/src/code/name.txt": "acme",
    "listings/main.rs": CODE,
    "listings/five.rs": "one\ntwo\nthree\nfour\nfive\n",
}
ROWS = {
    "a file": ("```rust\n{{#include ../../listings/main.rs}}\n```", "```rust\nfn main() {\n    call();\n}\n```"),
    "an anchor": ("{{#include ../../listings/main.rs:call}}", "    call();"),
    "an anchor around another": ("{{#rustdoc_include ../../listings/main.rs:all}}", "fn main() {\n    call();\n}"),
    "one line": ("{{#include ../../listings/five.rs:2}}", "two"),
    "two lines": ("{{#rustdoc_include ../../listings/five.rs:2:3}}", "two\nthree"),
    "from a line": ("{{#include ../../listings/five.rs:4:}}", "four\nfive"),
    "to a line": ("{{#include ../../listings/five.rs::2}}", "one\ntwo"),
    "within a line": ("Use {{ #include code/name.txt }} and `{{#include ./code/name.txt}}`.", "Use acme and `acme`."),
    "within a part": ("{{#include part.md}}", "Words of `acme`."),
    "a playground": ("{{#playground ../../listings/five.rs:5 editable}}", "```rust\nfive\n```"),
    "a title": ("{{#title Mine}}\nText", "Text"),
    "an escaped one": ("`\\{{#include code/name.txt}}`", "`{{#include code/name.txt}}`"),
    "another language of braces": ("```hbs\n{{#if x}}\n```", "```hbs\n{{#if x}}\n```"),
    "none": ("A{{#include none.rs}}", "A"),
    "an anchor that is missing": ("{{#include ../../listings/main.rs:none}}", ""),
    "a file outside": ("{{#include ../../../secret.txt}}", ""),
    "the configuration of the checkout": ("{{#include ../../.git/config}}", ""),
    "a link that leads outside": ("{{#include code/link.txt}}", ""),
    "itself": ("A\n{{#include a.md}}", "A\n"),
    "hidden lines": ("> ```rust,ignore\n> # x\n> a\n> ```\n\n- ```rust\n  # use a;\n  #\n  ## b\n  #[c]\n  ```",
                     "> ```rust,ignore\n> a\n> ```\n\n- ```rust\n  # b\n  #[c]\n  ```"),
    "hidden lines of an included file": ("```rust\n{{#include code/hidden.rs}}\n```", "```rust\nshown();\n```"),
    "a prefix of the configuration": ("```python\n~a\nb\n```\n\n```sh\n~c\n```", "```python\nb\n```\n\n```sh\n~c\n```"),
    "a prefix of a fence": ("```sh,hidelines=!!\n!!a\nb\n```", "```sh,hidelines=!!\nb\n```"),
    "a heading is no code": ("# A\n\n```rust\nb\n```\n\n# C", "# A\n\n```rust\nb\n```\n\n# C"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), first_of(ROWS.values(), 10, ids=ROWS))
def test_mdbook_takes_files_in_and_hides_lines(tmp_path, source, expected):
    root = tmp_path / "repository"
    (root / "book/src/code").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("Secret")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("token")
    (root / "book/src/code/link.txt").symlink_to(tmp_path / "secret.txt")
    pages = read_pages(root, {**FILES, "book/src/code/hidden.rs": "# use a;\nshown();\n", "book/src/a.md": source})
    assert pages["/a"].markdown.strip("\n") == expected.strip("\n")


def test_what_is_missing_is_told(tmp_path):
    text = "{{#title Mine}}\n{{#include none.rs}} {{#include none.rs:x}} {{#rustdoc_include ../../out.rs}}"
    page = read_pages(tmp_path, {"book.toml": "", "src/a.md": text})["/a"]
    assert page.title == "Mine"
    assert {(problem.kind, problem.detail) for problem in page.problems} == {
        ("include", "./none.rs"),
        ("include", "../../out.rs"),
    }


@pytest.mark.matrix
@pytest.mark.parametrize("piece", ["{{#include ", "{{ ", "\\{{#include a.md}}", "```rust\n# ", "{{#title x"])
def test_a_hostile_book_is_read_in_proportion_to_its_length(tmp_path, piece):
    files = {"book.toml": "", "src/a.md": piece * (200_000 // len(piece)), "src/b.md": "{{#include c.rs:x}}\n" * 10_000}
    began = time.process_time()
    read_pages(tmp_path, {**files, "src/c.rs": "ANCHOR: y\n" * 30_000})
    mdbook._hide_lines({}, files["src/a.md"])
    assert time.process_time() - began < 5
