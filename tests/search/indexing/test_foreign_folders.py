"""Documentation of strangers, read by plain `ingest`: what search, prompt, answers and MCP get of it."""

# ruff: noqa: E501 (one row is easier to read unbroken)

import io

import pytest
from django.core.management import call_command

from search.models import Section
from tests.variants import first_of

TABLE = (
    "<table>" + "".join(f"<tr><td>key{number}</td><td>value{number}</td></tr>" for number in range(900)) + "</table>"
)
HUGO = {"hugo.toml": "[params]\nversion = 'v1.30'\n"}

FOLDERS = {  # files, the page, what its text holds, and what it does not hold
    "a large table in HTML": ({"a.md": f"# A\n\n{TABLE}"}, "/a", ["| key899 | value899 |"], ["<td>"]),
    "a table in MDX": ({"a.mdx": "# A\n\n<table>\n  <tr><th>K</th><th>V</th></tr>\n\n  <tr><td>1</td><td>2</td></tr>\n</table>"},
        "/a", ["| K | V |", "| 1 | 2 |"], ["<"]),
    "powers and deletions": ({"a.md": "# A\n\n2<sup>32</sup> <s>v1</s> v2 ~~old~~ | <kbd>Ctrl</kbd><kbd>C</kbd>"},
        "/a", ["2^32", "`Ctrl` `C`"], ["v1", "old", "232"]),
    "powers in MDX": ({"a.mdx": "# A\n\n2<sup>32</sup> <del>v1</del> v2"}, "/a", ["2^32"], ["v1"]),
    "powers in HTML": ({"a.html": "<h1>A</h1><p>2<sup>32</sup> <del>v1</del> v2 of the address space.</p>"}, "/a", ["2^32"], ["v1"]),
    "front matter that is not YAML": ({"a.md": "---\ntitle: @a: b\n---\nText"}, "/a", ["Text"], ["@a"]),
    "a parameter of Hugo": ({**HUGO, "content/a.md": "Run `get-{{< param version >}}`."}, "/a", ["`get-v1.30`"], ["{{"]),
    "a file of Hugo": ({**HUGO, "content/a.md": '{{% readfile "b.py" %}}', "content/b.py": "main()"}, "/a",
        ["```py\nmain()\n```"], ["{{"]),
    "an import of Starlight": (
        {"astro.config.mjs": "starlight()", "src/content/docs/a.mdx": "import X from '@/parts/x.md';\n\n<X />", "src/parts/x.md": "Part"},
        "/a", ["Part"], ["<X"]),
    "an object of Sphinx without a name": ({"conf.py": "", "a.rst": "A\n=\n\n- Item\n\n    .. method:: a.b(c, d,\n                    e)\n\n       Text\n"},
        "/a", ["a.b(c, d,", "Text"], [".. method"]),
    "a deep conf.py": ({"x/y/manual/conf.py": "extensions = []", "x/y/manual/a.rst": "A\n=\n\nText"}, "/a", ["Text"], []),
}  # fmt: skip


@pytest.mark.parametrize(("files", "path", "held", "lacking"), first_of(FOLDERS.values(), 4, ids=FOLDERS))
def test_a_folder_is_read_as_its_site_shows_it(make_project, tmp_path, files, path, held, lacking):
    project = make_project().project
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    call_command("ingest", project.domain, str(tmp_path), stdout=io.StringIO(), stderr=io.StringIO())
    bodies = "\n".join(Section.objects.on_page(project, path).values_list("body", flat=True))
    assert [text for text in held if text not in bodies] == []
    assert [text for text in lacking if text in bodies] == []
