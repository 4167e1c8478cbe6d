"""Hugo's addresses, anchors and shortcodes, as its release 0.168 makes them."""

# ruff: noqa: E501 (one row is easier to read unbroken)

import pytest

from search.sources import PageRedirect
from search.sources.markdown.folder import read_folder
from search.sources.markdown.front_matter import split_front_matter
from search.sources.markdown.generators import hugo_shortcodes
from search.sources.request import SourceRequest
from tests.drafts import build_drafts
from tests.search.sources.generators.test_site_headings import list_anchors, read_pages
from tests.variants import first_of

CONFIG = "baseURL = 'https://acme.example/'\n"


def test_hugo_has_folders_in_lower_case(tmp_path):
    files = {
        "_index.md": "/",
        "about.md": "/about",
        "Docs/_index.md": "/docs",
        "Docs/My Page & Co.md": "/docs/my-page--co",
        "Docs/a_b.C+d~e@f(g).md": "/docs/a_b.c+d~e@fg",
        "Docs/v1.2.md": "/docs/v1.2",
        "Docs/Leaf B/index.md": "/docs/leaf-b",
    }
    pages = read_pages(
        tmp_path,
        {
            **{"hugo.toml": CONFIG, "content/Docs/Leaf B/part.md": "No page", "content/Docs/Leaf B/in/a.md": "No page"},
            **{f"content/{name}": "T" for name in files},
        },
    )
    assert sorted(pages) == sorted(files.values())
    assert pages["/docs/leaf-b"].address == "docs/leaf-b/"


def test_hugos_front_matter_names_addresses_in_three_languages(tmp_path):
    files = {
        "a/b.md": "+++\ntitle = 'B'\nslug = 'Other Name'\naliases = ['/old/b/']\ntags = ['x']\n+++\nText",
        "a/c.md": '{\n"title": "C",\n"url": "/far/c/"\n}\nText',
        "a/d.md": "---\ntitle: D\ndraft: true\n---\nText",
        "a/e.md": "---\nexpiryDate: 2020-01-01\n---\nText",
        "a/f.md": "+++\ntitle = \n+++\n",
        "posts/g.md": "+++\ndate = 2024-03-05T10:00:00Z\ntitle = 'A g'\n+++\nText",
        "hidden/_index.md": "---\nbuild:\n  render: always\ncascade:\n  build:\n    render: never\n---\n",
        "hidden/h.md": "No page",
    }
    config = CONFIG + "[permalinks]\nposts = '/:year/:month/:title/'\n"
    pages = read_pages(tmp_path, {"hugo.toml": config, **{f"content/{name}": text for name, text in files.items()}})
    assert set(pages) == {"/a/other-name", "/far/c", "/a/f", "/2024/03/a-g", "/hidden"}
    assert (pages["/a/other-name"].title, pages["/a/other-name"].tags) == ("B", ("x",))
    items = list(build_drafts(read_folder(tmp_path, SourceRequest(str(tmp_path), ""))))
    assert PageRedirect("/old/b", "/a/other-name") in items
    assert [detail for _, detail in pages["/a/f"].problems] == ["line 2 is not TOML: title ="]


def test_hugo_has_languages_in_folders_and_in_file_names(tmp_path):
    config = "languages:\n  en: {languageCode: en-GB}\n  FR: {contentDir: content/french}\n  de: {}\n"
    names = ("content/a.md", "content/a.de.md", "content/french/a.md")
    pages = read_pages(tmp_path, {"config/_default/hugo.yaml": config, **dict.fromkeys(names, "# T")})
    assert {path: page.language for path, page in pages.items() if "french" not in path} == {
        "/a": "en-GB",
        "/de/a": "de",
        "/fr/a": "fr",
    }


@pytest.mark.parametrize(
    ("config", "is_hugo"), [("baseURL = '/'", True), ("base_url = '/'", False)], ids=["Hugo", "Zola"]
)
def test_hugo_is_known_by_its_address_where_it_has_no_layouts(tmp_path, config, is_hugo):
    pages = read_pages(tmp_path, {"config.toml": config, "content/a.md": "T"})
    assert set(pages) == ({"/a"} if is_hugo else {"/content/a"})


def test_hugos_mounts_are_read_instead_of_its_content_folder(tmp_path):
    config = CONFIG + "[[module.mounts]]\nsource = 'text/en'\ntarget = 'content'\n"
    pages = read_pages(tmp_path, {"site/hugo.toml": config, "site/text/en/a.md": "T", "site/text/x.md": "No page"})
    assert set(pages) == {"/a"}


def test_headings_have_goldmarks_ids(tmp_path):
    headings = ("`code.x_y()` & more", "नोट: यहाँ", "Über x² ½", "❤", "❤", "A.b -- c", "Same", "Same", "Words {#Own}")
    text = "# T\n\n" + "\n\n".join(f"## {heading}\n\nText" for heading in (*headings, "New {{< new >}}in{{< /new >}}"))
    pages = read_pages(tmp_path, {"hugo.toml": CONFIG, "content/a.md": text})
    expected = ["codex_y--more", "नट-यह", "über-x-", "heading", "heading-1", "ab--c", "same", "same-1", "Own", ""]
    assert [anchor for _, anchor in list_anchors(pages["/a"])] == expected


def test_shortcodes_leave_their_inner_text(tmp_path):
    text = """See [that]({{< ref "/docs/b.md#part" >}}) and [this]({{% relref `c` %}}).

{{% alert title="Mind > this" %}}
Inner **text**.
{{% /alert %}}

{{< highlight go "linenos=table" >}}
x := 1
{{< /highlight >}}

`{{</* youtube id */>}}` {{< youtube
  id >}}end
"""
    page = read_pages(tmp_path, {"hugo.toml": CONFIG, "content/a.md": text})["/a"]
    assert " ".join(page.markdown.split()) == (
        "See [that](/docs/b.md#part) and [this](c). **Mind > this** Inner **text**. ```go x := 1 ``` "
        "`{{< youtube id >}}` end"
    )


@pytest.mark.parametrize("text", ["+++\na = 1\n", "{\nno end", "+++ x\n+++\n"])
def test_what_only_begins_like_front_matter_is_text(text):
    assert split_front_matter(text) == ({}, text)


SITE = {
    "hugo.toml": CONFIG
    + "[params]\nversion = 'v1.30'\n[params.Release]\nNext = 2\n[languages.en.params]\nname = 'Acme'\n",
    "layouts/shortcodes/box.html": (
        '{{/* A box. */}}\n<div class="box">\n{{- .Inner | markdownify -}}\n</div>\n{{ .Get "by" }} {{ .Site.Params.version }}'
    ),
    "layouts/_shortcodes/dot.md": "**{{ .Get 0 }}** by {{ site.Params.name }}",
    "themes/t/layouts/shortcodes/themed.html": "<b>{{ .Inner }}</b>",
    "layouts/shortcodes/list.html": "{{ range .Site.Pages }}<li>{{ .Title }}</li>{{ end }}",
    "content/includes/part.md": "---\ntitle: Part\nbuild: {render: never}\n---\nPart of {{< param version >}}.",
    "content/examples/a.yaml": "kind: A\n",
    "content/docs/own.sh": "echo own\n",
}
SHORTCODES = {
    "a parameter of the site": ("`kubectl-{{< param version >}}`", "`kubectl-v1.30`", []),
    "a nested parameter": ('{{% param "release.next" %}} {{< param NAME >}}', "2 Acme", []),
    "a parameter of the page": ("{{< param level >}} {{< param own.inner >}}", "high deep", []),
    "a parameter that nobody has": ("a {{< param other >}} b", "a  b", ["param other"]),
    "a term": ('A {{< glossary_tooltip text="pod" term_id="x" >}} {{< glossary_tooltip term_id="api-server" >}}',
        "A pod api server", []),
    "a file of text": ('{{% readfile "/includes/part.md" %}}', "Part of v1.30.", []),
    "a part": ('{{< include "part.md" >}}', "Part of v1.30.", []),
    "a file of code": ('{{% code_sample file="a.yaml" %}}', "```yaml\nkind: A\n```", []),
    "a file in a fence": ('```sh\n{{< readfile file="own.sh" code="true" >}}\n```', "```sh\necho own\n```", []),
    "a file that is missing": ('{{< readfile file="gone.md" >}}', '', ["./gone.md"]),
    "a file outside": ('{{< readfile file="../../../secret.md" >}}', '', ["../../../secret.md"]),
    "tabs": ('{{< tabs name="x" >}}\n{{< tab name="One" >}}\na\n{{< /tab >}}\n{{% tab "Two" %}}\nb\n{{% /tab %}}\n{{< /tabs >}}',
        "**One**\n\na\n\n**Two**\n\nb", []),
    "an alert": ('{{% alert title="Mind `this`" color="x" %}}\nText.\n{{% /alert %}}', "**Mind `this`**\n\nText.", []),
    "a figure": ('{{< figure src="a.png" alt="b" caption="C d" >}} {{< figure src="e.png" alt="F" >}}', "**C d**\n\n F", []),
    "a template": ('{{< box by="me" >}}\nInner\n{{< /box >}}', '<div class="box">\nInner\n</div>\nme v1.30', []),
    "a template in Markdown": ("{{< dot `a b` >}}", "**a b** by Acme", []),
    "a template of the theme": ("{{< themed >}}x{{< /themed >}}", "<b>x</b>", []),
    "a template that computes": ('{{< list title="All" >}}\nInner\n{{< /list >}}', "**All**\n\nInner", ["list"]),
    "code": ("{{< code-toggle file=hugo >}}\na: 1\n{{< /code-toggle >}}", "~~~~\n\na: 1\n\n~~~~", ["code-toggle"]),
    "code with a file's name": ('{{< code file="gone.md" >}}\n# a: 1\n{{< /code >}}', "~~~~\n\n# a: 1\n\n~~~~", ["code"]),
    "code of a file": ('{{% code file="a.yaml" %}}', "```yaml\nkind: A\n```", []),
    "code without an end": ("{{< code-x >}}\nText", "Text", ["code-x"]),
    "no template": ("{{< what >}}Inner{{< /what >}} {{< what2 />}}", "Inner", ["what", "what2"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected", "problems"), first_of(SHORTCODES.values(), 12, ids=SHORTCODES))
def test_shortcodes_show_what_the_site_shows(tmp_path, text, expected, problems):
    (tmp_path / "secret.md").write_text("Secret.")
    front = "---\nparams: {level: high}\nown:\n  Inner: deep\n---\n"
    page = read_pages(tmp_path / "site", {**SITE, "content/docs/page.md": front + text})["/docs/page"]
    lines = [line.rstrip() for line in page.markdown.strip().split("\n")]
    assert "\n".join(line for at, line in enumerate(lines) if line or lines[at - 1]) == expected
    assert [problem.detail for problem in page.problems] == problems


@pytest.mark.parametrize(
    ("template", "body", "is_shown"),
    [
        ("x" * 20_000, "{{< a >}}" * 2_000, True),  # many uses
        ("{{ .Get 0 }}" * 10, f"{{{{< a {'x' * 1_900} >}}}}" * 300, True),  # arguments
        ("x{{ .Get 1 }}" * 1_000, "{{< a >}}" * 2_000, True),  # parts that show little
        ("{{ site.Params.long }}" * 900, "{{< a >}}", False),  # one use
        ("", "{{< param long >}}" * 2_000, True),
    ],
)
def test_shortcodes_of_a_page_show_no_more_than_a_limit(tmp_path, monkeypatch, template, body, is_shown):
    parse, parsed = hugo_shortcodes._parse_template, []
    monkeypatch.setattr(hugo_shortcodes, "_parse_template", lambda text: parsed.append(text) or parse(text))
    (tmp_path / "layouts" / "shortcodes").mkdir(parents=True)
    (tmp_path / "layouts" / "shortcodes" / "a.html").write_text(template)
    shortcodes = hugo_shortcodes.Shortcodes(tmp_path, tmp_path, {"long": "x" * 1_000})
    problems = []
    text = shortcodes.expand(body, {}, problems)
    assert bool(text) is is_shown
    assert len(text) <= hugo_shortcodes.MAX_TOTAL + hugo_shortcodes.MAX_TEMPLATE
    assert {problem.kind for problem in problems} == {"shortcode"}
    assert len(parsed) == bool(template)
