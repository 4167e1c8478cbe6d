"""Web pages to Markdown: the content as its generator renders it, with the anchors that the page has."""

# ruff: noqa: E501 (what generators write is easier to read unbroken)

import random
import re
import time
from textwrap import dedent

import pytest

from search.sources import html
from search.sources.html import MAX_BYTES, read_html
from search.text.sections import split

HERE = "https://docs.example.com/guide/install.html"


def markdown(content: str) -> str:
    """The Markdown of a page with this content, below its title."""
    page = read_html(f"<title>T</title><main><h1>T</h1>{content}</main>", HERE).markdown
    assert page.startswith("# T\n\n")
    return page.removeprefix("# T\n\n").rstrip("\n")


CODE = "```python\ndef f():\n    return 1\n```"
PYTHON = '<span class="k">def</span> <span class="nf">f</span>():\n    <span class="k">return</span> 1\n'

BLOCKS = {
    "paragraphs": ("<p>One\n  line.</p>Two <div>three</div>", "One line.\n\nTwo\n\nthree"),
    "line breaks": ("<p>One<br>- two<br># three</p>", "One  \n\\- two  \n\\# three"),
    "emphasis": ("<p><b>Note:</b> an <em>old</em> one</p>", "**Note:** an *old* one"),
    "emphasis that Markdown cannot show": ("<p>a<b>(b)</b>c <b> d </b><b>e</b><i>f</i></p>", "a(b)c **d** ef"),
    "inline code": ("<p><code>a  `b`</code><tt>*</tt> <kbd>Ctrl</kbd></p>", "`` a `b` `` `*` `Ctrl`"),
    "links": (
        '<p><a href="../a b.html?q=(1)#x">one</a>!<a href="mailto:a@b.c">two</a> <a href="javascript:x()">3</a></p>',
        "[one](https://docs.example.com/a%20b.html?q=%281%29#x)\\![two](mailto:a@b.c) 3",
    ),
    "an option that looks like a mail address": (
        '<p>Use <a href="mailto:--from=a@b">--from=a@b</a> or <a href="mailto:a@b">me</a>.</p>',
        "Use --from=a@b or [me](mailto:a@b)."),
    "pictures": ('<p>See <img src="a.png" alt="the *plan*">.</p>', "See the \\*plan\\*."),
    "lists": (
        "<ul><li>one<ul><li>two</li></ul><li><p>three</p><p>four</p></ul>",
        "- one\n  - two\n\n- three\n\n  four",
    ),
    "numbers": ('<ol start="9"><li>a<li>b<pre>c</pre></ol>', "9. a\n\n10. b\n\n    ```\n    c\n    ```"),
    "table": (
        "<table><caption>C</caption><thead><tr><th>A<th>B</thead><tr><td><code>a|b</code><td><p>c<ul><li>d</ul></table>",
        "**C**\n\n| A | B |\n| --- | --- |\n| `a\\|b` | c d |",
    ),
    "table without a head": (
        "<table><tr><td>a<td>b<tr><td colspan=2>c</table>",
        "|  |  |\n| --- | --- |\n| a | b |\n| c |  |",
    ),
    "table for layout": ("<table><tr><td><h2>A</h2><p>b<td><p>c</table>", "## A\n\nb\n\nc"),
    "definitions": ("<dl><dt>Term<dd>Meaning<dd><p>Other</dl>", "**Term**\n\nMeaning\n\nOther"),
    "quote": ("<blockquote><p>a<h2>b</h2></blockquote>", "> a\n>\n> **b**"),
    "details": ("<details><summary>More <b>of</b> it</summary>text</details>", "**More of it**\n\ntext"),
    "formula": ('<p><span class="math">\\(x_1*y\\)</span></p>', "`x_1*y`"),
    "KaTeX": (
        '<p><span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation encoding='
        '"application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2'
        "</span></span></p>",
        "`x^2`",
    ),
    "powers": (
        "<p>10<sup>3</sup> H<sub>2</sub>O 1<sup>st</sup> 2<sup>n-1</sup> 101<sub>2</sub></p>",
        "10^3 H2O 1st 2^(n-1) 101_2",
    ),
    "deletions": ("<p><s>v1</s> v2 <del>x</del></p><h2><del>a</del></h2>", "v2\n\n## a"),
    "keys": ("<p><kbd>Ctrl</kbd><kbd>C</kbd></p>", "`Ctrl` `C`"),
    "table with cells over rows": (
        "<table><tr><th>A<th>B<tr><td rowspan=2>x<td>y<tr><td>z</table>",
        "| A | B |\n| --- | --- |\n| x | y |\n| x | z |",
    ),
    "custom elements": ("<my-card><p>a</p></my-card><my-badge>b</my-badge>", "a\n\nb"),
    "what nobody reads": (
        "<script>x</script><style>x</style><svg><text>x</text></svg><nav>x</nav><p hidden>x</p><p aria-hidden=true>x</p>"
        '<p style="display: none">x</p><form><input></form><button>Copy</button><span class="sr-only">x</span>'
        '<aside><a href="#a">x</a></aside><!-- x --><template>x</template><p>text',
        "text",
    ),
}  # fmt: skip

GENERATORS = {
    "Sphinx: code": (f'<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>{PYTHON}</pre></div></div>', CODE),
    "Sphinx: numbered code": (
        '<div class="highlight-python"><div class="highlight"><table class="highlighttable"><tr><td class="linenos"><div '
        f'class="linenodiv"><pre>1\n2</pre></div></td><td class="code"><div><pre>{PYTHON}</pre></div></td></tr></table></div></div>',
        CODE,
    ),
    "Docusaurus: code": (
        '<div class="language-python codeBlockContainer_x"><pre class="prism-code language-python"><code><span class="token-line">'
        '<span>def f():</span><br></span><span class="token-line">    return 1<br></span></code></pre>'
        '<div class="buttonGroup"><button>Copy</button></div></div>',
        CODE,
    ),
    "VitePress: code": (
        '<div class="language-python vp-adaptive-theme"><button class="copy"></button><span class="lang">python</span><pre '
        'class="shiki"><code><span class="line">def f():</span>\n<span class="line">    return 1</span></code></pre></div>',
        CODE,
    ),
    "Shiki without line ends": (
        '<pre class="shiki" data-language="python"><code><span class="line">def f():</span><span class="line">    return 1</span></code></pre>',
        CODE,
    ),
    "Rouge": (
        '<div class="language-python highlighter-rouge"><div class="highlight"><pre class="highlight"><code><table class="rouge-table">'
        '<tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code"><pre>def f():\n    return 1\n</pre>'
        "</td></tr></table></code></pre></div></div>",
        CODE,
    ),
    "Prism": ('<pre class="line-numbers language-python"><code>def f():\n    return 1<span class="line-numbers-rows"><span></span></span></code></pre>', CODE),
    "highlight.js": ('<pre><code class="hljs language-python">def f():\n    return 1</code></pre>', CODE),
    "code with fences": ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    "Sphinx: sections": (
        '<section id="a"><h2>Part A<a class="headerlink" href="#a">¶</a></h2><p>x</p><section id="id1"><h3>Sub</h3></section>'
        '<span id="old"></span><section id="part-a"><span id="id2"></span><h3>Part A</h3></section></section>',
        "## Part A {#a}\n\nx\n\n### Sub {#id1}\n\n### Part A",
    ),
    "Sphinx: objects": (
        '<h2 id="api">API</h2><dl class="py class"><dt class="sig sig-object py" id="m.C"><em class="property">class</em> <span '
        'class="sig-prename descclassname">m.</span><span class="sig-name descname">C</span>(<em>a</em>)<a class="headerlink" '
        'href="#m.C">¶</a></dt><dd><p>Doc.</p><dl class="py method"><dt class="sig sig-object py" id="m.C.__init__"><span '
        'class="sig-name descname">__init__</span>()<a class="viewcode-link">[source]</a></dt><dd><p>Makes.</p></dd></dl></dd></dl>',
        "## API\n\n### m.C {#m.C}\n\n`class m.C(a)`\n\nDoc.\n\n#### m.C.\\_\\_init\\_\\_ {#m.C.\\_\\_init\\_\\_}\n\n`__init__()`\n\nMakes.",
    ),
    "Sphinx: option": (
        '<dl class="std option"><dt class="sig sig-object std" id="cmdoption-x"><span class="sig-name descname">--x</span><span '
        'class="sig-prename"> &lt;n&gt;</span></dt><dd>Sets x.</dd></dl>',
        "## --x \\<n> {#cmdoption-x}\n\nSets x.",
    ),
    "pdoc": (
        '<section id="C.f"><div class="attr function"><span class="def">def</span> <span class="name">f</span>(a)</div>'
        '<div class="docstring"><p>Does.</p></div></section>',
        "### C.f {#C.f}\n\n`def f(a)`\n\nDoes.",
    ),
    "javadoc": (
        '<section class="detail" id="add(int,java.lang.Object)"><h3>add</h3><p>Adds.</p></section>',
        "### add {#add(int,java.lang.Object)}\n\nAdds.",
    ),
    "javadoc: members": (
        '<section id="m"><h2>Methods</h2><ul><li><section id="a()"><h3>a</h3></section></li><li><section id="b()"><h3>b</h3><ul><li>c</ul></section></ul>',
        "## Methods {#m}\n\n### a {#a()}\n\n### b {#b()}\n\n- c",
    ),
    "rustdoc": (
        '<details open><summary><section id="method.new"><a class="src" href="s">source</a><h4 class="code-header">pub fn '
        '<a href="#method.new" class="fn">new</a>()</h4></section></summary><div class="docblock"><p>Makes.</p></div></details>',
        "#### pub fn new() {#method.new}\n\nMakes.",
    ),
    "headings that are called as furniture is": (
        '<section id="toc"><h2>TOC</h2><p>a</p></section><h2 id="content">Content</h2><h2 id="feedback">Feedback</h2>',
        "## TOC\n\na\n\n## Content\n\n## Feedback",
    ),
    "MkDocs: heading": ('<h2 id="same_1">Same<a class="headerlink" href="#same_1">&para;</a></h2>', "## Same {#same_1}"),
    "anchor before a heading": ('<a name="x"></a><h2>One</h2><p>a</p><h2>Two</h2>', "## One {#x}\n\na\n\n## Two {#x}"),
    "anchor in a heading": ('<h2><a id="x" class="anchor" href="#x">#</a>One</h2>', "## One {#x}"),
    "repeated headings": ('<h2 id="a">A</h2><h2 id="a-1">A</h2><h2 id="b">A</h2><h2 id="a-2">A</h2>', "## A\n\n## A\n\n## A {#b}\n\n## A"),
    "Material: admonition": ('<div class="admonition note"><p class="admonition-title">Mind</p><p>x</p></div>', "**Mind**\n\nx"),
    "Docusaurus: admonition": (
        '<div class="theme-admonition"><div class="admonitionHeading_x"><span><svg></svg></span>tip</div><div><p>x</p></div></div>',
        "**tip**\n\nx",
    ),
    "VitePress: admonition": ('<div class="tip custom-block"><p class="custom-block-title">TIP</p><p>x</p></div>', "**TIP**\n\nx"),
    "Material: tabs": (
        '<div class="tabbed-set"><input id="1"><input id="2"><div class="tabbed-labels"><label for="1">Py</label><label>JS</label>'
        '</div><div class="tabbed-content"><div class="tabbed-block"><p>a</p></div><div class="tabbed-block"><p>b</p></div></div></div>',
        "**Py**\n\na\n\n**JS**\n\nb",
    ),
    "Docusaurus: tabs": (
        '<div class="tabs-container"><ul role="tablist"><li role="tab">Py</li><li role="tab">JS</li></ul><div><div role="tabpanel">'
        '<p>a</p></div><div role="tabpanel" hidden><p>b</p></div></div></div>',
        "**Py**\n\na\n\n**JS**\n\nb",
    ),
    "Sphinx-design: tabs": (
        '<div class="sd-tab-set"><input><label class="sd-tab-label">Py</label><div class="sd-tab-content"><p>a</p></div>'
        '<label class="sd-tab-label">JS</label><div class="sd-tab-content"><p>b</p></div></div>',
        "**Py**\n\na\n\n**JS**\n\nb",
    ),
}  # fmt: skip

WHOLE = {
    "plain": "<body><h1>Name</h1><p>Text.</p></body>",
    "Sphinx": '<div class="document"><div class="bodywrapper"><div class="body" role="main"><section id="n"><h1>Name</h1><p>Text.</p>'
    '</section></div></div><div class="sphinxsidebar"><p>x</p></div></div><div class="footer">x</div>',
    "Furo": '<div class="page"><div class="main"><div class="content"><article role="main"><h1>Name</h1><p>Text.</p></article></div>'
    '<aside class="toc-drawer"><a href="#a">x</a></aside></div></div>',
    "Material": '<header>x</header><main class="md-main"><div class="md-sidebar"><p>x</p></div><div class="md-content"><article class='
    '"md-content__inner"><a class="md-content__button" href="#">x</a><h1>Name</h1><p>Text.</p></article></div></main>',
    "Docusaurus": '<div class="main-wrapper"><aside class="theme-doc-sidebar-container"><a href="/a">x</a></aside><main><article><nav>x</nav>'
    '<div class="theme-doc-markdown markdown"><header><h1>Name</h1></header><p>Text.</p></div><footer>x</footer></article></main></div>',
    "VitePress": '<main class="main"><div class="vp-doc"><div><h1>Name<a class="header-anchor" href="#n">&#8203;</a></h1><p>Text.</p></div>'
    '</div></main><footer class="VPDocFooter">x</footer>',
    "Mintlify": '<div id="content-area"><header id="header"><h1 id="page-title">Name</h1></header><div class="mdx-content" id="content">'
    "<p>Text.</p></div></div><footer>x</footer>",
    "Docsy": '<main><div class="td-content"><h1>Name</h1><p>Text.</p><div class="td-page-meta">x</div></div></main>',
    "no element that says so": "<div><div><a href=/>x</a></div><div><div><h1>Name</h1><p>Text.</p></div></div></div>".replace(
        "<a href=/>x</a>", '<ul class="sidebar-nav"><li>x</ul>'
    ),
}  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), (BLOCKS | GENERATORS).values(), ids=(BLOCKS | GENERATORS).keys())
def test_it_reads(html, expected):
    assert markdown(html) == expected


@pytest.mark.parametrize("html", WHOLE.values(), ids=WHOLE.keys())
def test_it_finds_the_content(html):
    page = read_html(f"<title>Name — Site</title>{html}", HERE)
    assert (page.title, page.markdown) == ("Name", "# Name\n\nText.\n")


def test_it_reads_what_a_page_says_of_itself():
    page = read_html(
        dedent("""\
            <html lang="de"><head><title>Los | Site</title><base href="/v2/"><link rel="canonical" href="los.html">
            <meta name="description" content="Kurz."><meta name="keywords" content="a, b"><meta name="docsearch:version" content="2.0">
            </head><body><nav><a href="a.html#x">a</a><a href="#here">b</a><a rel="nofollow" href="c">c</a></nav><p>Text
            <a href="a.html">a</a> <a href="https://other.example/">d</a> <a href="mailto:a@b.c">e</a></body></html>"""),
        HERE,
    )
    assert (page.title, page.language, page.description, page.version) == ("Los", "de", "Kurz.", "2.0")
    assert page.keywords == ("a", "b")
    assert page.canonical == "https://docs.example.com/v2/los.html"
    assert page.links == (
        "https://docs.example.com/v2/a.html",
        "https://docs.example.com/v2/",
        "https://other.example/",
    )
    assert page.markdown.startswith("# Los\n\nText ")


def test_a_title_stands_above_content_that_has_none_and_takes_its_anchor():
    page = read_html("<h1>Name</h1><main><h2 id=name-1>Name</h2><p>Text.</main>", HERE)
    assert page.markdown == "# Name\n\n## Name\n\nText.\n"
    assert [part.anchor for part in split(page.markdown)] == ["", "name-1"][-1:]


@pytest.mark.parametrize("robots", ["noindex", "NOINDEX, follow", "none"])
def test_a_page_that_asks_not_to_be_indexed_says_so(robots):
    page = read_html(f'<meta name="robots" content="{robots}"><p>Text.<a href="/a">a</a>', HERE)
    assert page.noindex
    assert page.links == (() if robots == "none" else ("https://docs.example.com/a",))


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=../new/", "https://docs.example.com/new/"),
        ("1;URL='new.html'", "https://docs.example.com/guide/new.html"),
        ("300; url=new.html", ""),
        ("300", ""),
    ],
)
def test_a_redirect_tells_its_target(content, target):
    assert read_html(f'<meta http-equiv="Refresh" content="{content}"><p>Moved.', HERE).refresh == target


@pytest.mark.parametrize(
    ("source", "charset"),
    [
        ("<p>Größe €".encode(), ""),
        ("<p>Größe €".encode("utf-8-sig"), "latin-1"),
        ("<p>Größe €".encode("utf-16"), ""),
        ('<meta charset="windows-1252"><p>Größe €'.encode("cp1252"), ""),
        ('<meta http-equiv=content-type content="text/html; charset=iso-8859-15"><p>Größe €'.encode("iso-8859-15"), ""),
        ("<p>Größe €".encode("cp1252"), "ISO-8859-1"),
        ("<p>Größe €".encode(), "no-such-charset"),
        ('<meta charset="utf-16"><p>Größe €'.encode(), ""),
    ],
)
def test_it_knows_the_charset(source, charset):
    assert read_html(source, HERE, charset).markdown == "Größe €\n"


def letters(text: str) -> str:
    return "".join(re.findall(r"\w+", text))


def read_back(source: str) -> str:
    parts = split(read_html(source, HERE).markdown)
    return " ".join(f"{part.heading} {part.text}" for part in parts)


SHOWN = ("paragraphs", "line breaks", "emphasis that Markdown cannot show", "table", "definitions", "quote", "details")


@pytest.mark.parametrize("html", [BLOCKS[name][0] for name in SHOWN], ids=SHOWN)
def test_a_reader_of_the_sections_reads_the_page(html):
    said = read_back(f"<main><h1>Name</h1>{html}</main>")
    assert letters(said) == letters(re.sub("<[^>]+>", "", html))


@pytest.mark.matrix
def test_no_text_becomes_markup_by_accident():
    pick = random.Random(1)
    pieces = (
        *("*", "**", "_", "__", "`", "``", "<b>", "</b>", "<a href='x'>", "[x](y)", "![x](y)", "[^1]", "[toc]", "#", "## ", "- ", "+ "),
        *("1. ", "2) ", "> ", "~~", "~~~", "```", "|", "---", "===", "!!! note", "??? x", ":::", "///", ": x", "{#id}", "{: .c}", "{{ x }}"),
        *("{% raw %}", ":smile:", "&amp;", "&#42;", "\\", "\\*", "<!--", "-->", "<https://a.b>", "&copy;", "word", "words", "*[a]: b", "!", "$x$"),
    )  # fmt: skip
    for _ in range(400):
        text = " ".join(pick.choices(pieces, k=pick.randint(1, 8)))
        shown = text.replace("&", "&amp;").replace("<", "&lt;")
        source = f"<main><h1>Name</h1><p>{shown}</p><ul><li>{shown}</ul><p>a<br>{shown}<br>b</main>"
        assert read_back(source).split() == f"{text} {text} a {text} b".split(), text


@pytest.mark.matrix
@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 100_000 + "text",
        "<ul><li>" * 50_000 + "text",
        "<p>text</p>" * 20_000 + "<b>" * 60_000 + "<p>x",
        "<p>text</p>" * 190_000 + "<div>" * 60_000,
        "<p>x" * 300_001,
        "<" + "p" * MAX_BYTES,
        "<p " + "a b=1 c='2' " * 100_000 + ">x",
        '<p a=b"c ' + "<a " * 100_000 + ">x",
    ],
    ids=["blocks", "lists", "late", "later", "many", "large", "attributes", "tags in a tag"],
)
def test_hostile_pages_are_refused_at_once(source):
    start = time.process_time()
    with pytest.raises(ValueError, match=r"nested too deeply|300,000 elements|larger than 5 MiB|too many attributes"):
        read_html(source, HERE)
    assert time.process_time() - start < 20


@pytest.mark.matrix
@pytest.mark.parametrize(
    "source",
    [
        "<" * MAX_BYTES,
        "<p title='" + "a" * 4_000_000 + "'>x",
        "<p>a<b>b<i>c" * 2_000,
        "<ul><li>x" * 200,
        "<blockquote>" * 200 + "x" * 100_000,
        "<aside>" * 400 + "word " * 100_000,
        "<p>" + "[(`*_<a href=x>" * 3_000,
        "<pre>" + "<span>" * 400 + "x",
        "<table><tr><td colspan=999999999999>x<td>y</table>",
    ],
    ids=["less", "attribute", "unclosed", "lists", "quotes", "asides", "marks", "code", "span"],
)
def test_strange_pages_are_read(source):
    start = time.process_time()
    assert read_html(source, HERE).markdown
    assert time.process_time() - start < 20


@pytest.mark.matrix
def test_a_page_of_many_elements_is_parsed_a_few_times_only(monkeypatch):
    sizes = []
    parse = html.LexborHTMLParser
    monkeypatch.setattr(html, "LexborHTMLParser", lambda source: sizes.append(len(source)) or parse(source))
    source = f"<nav>{'<p>x</p>' * 150_000}</nav><p>Text."
    assert read_html(source, HERE).markdown == "Text.\n"
    assert sum(sizes) < 6 * len(source)


@pytest.mark.parametrize(
    "source", ["", b"", "<script>x</script>", "<nav>x</nav>", "<frameset><frame src=x></frameset>", b"\x00"]
)
def test_a_page_without_text_is_none(source):
    with pytest.raises(ValueError, match="has no text"):
        read_html(source, HERE)
