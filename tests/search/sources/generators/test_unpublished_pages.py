"""What a generator does not publish, or keeps out of search, is left out with the reason."""

# ruff: noqa: E501 (one row is easier to read unbroken)

import pytest

from search.sources import ExcludedPage, Page
from search.sources.markdown.folder import read_folder
from search.sources.request import SourceRequest
from tests.drafts import build_drafts
from tests.variants import first_of

HUGO = {"hugo.toml": "baseURL = 'https://acme.example/'\n"}
JEKYLL = {"_config.yml": "theme: minima\n"}
JUST_THE_DOCS = {
    "_config.yml": "remote_theme: just-the-docs\ndefaults:\n- scope: {path: inner}\n  values: {search_exclude: true}\n"
}
DOCUSAURUS = {"docusaurus.config.js": "module.exports = {}\n", "docs/z.md": "Text"}
NAVIGATION = {"docs.json": '{"navigation": {"pages": ["z", "c"]}}', "c.mdx": "C"}
ALL_INDEXED = {"docs.json": '{"seo": {"indexing": "all"}, "navigation": {"pages": ["z"]}}'}
CASCADE = "---\ncascade:\n- draft: true\n- target: {path: /x}\n  title: Wrong\n---\nSection"
COMING = HUGO["hugo.toml"] + "buildFuture = true\nbuildExpired = true\n[cascade]\nnoindex = true\n"

UNPUBLISHED = {  # the files of a site, the name of one of its pages, the page, the reason
    "Hugo: draft": (HUGO, "content/a.md", "---\ndraft: true\n---", "`draft: true`"),
    "Hugo: not published": (HUGO, "content/a.md", "---\npublished: false\n---", "`published: false`"),
    "Hugo: a day to come": (HUGO, "content/a.md", "---\ndate: 2999-01-31\n---", "published on 2999-01-31"),
    "Hugo: a time to come": (HUGO, "content/a.md", "+++\nPublishDate = 2999-01-31T10:00:00Z\n+++", "on 2999-01-31"),
    "Hugo: a time past": (HUGO, "content/a.md", "---\npublishDate: 2020-01-31\ndate: 2999-01-01\n---", ""),
    "Hugo: expired": (HUGO, "content/a.md", "---\nexpiryDate: 2020-01-31\n---", "`expiryDate` is over"),
    "Hugo: not expired": (HUGO, "content/a.md", "---\nexpiryDate: 2999-01-31\n---", ""),
    "Hugo: expired in Go's words": (HUGO, "content/a.md", "---\nexpiryDate: 2020-12-31 23:59:59 +0000 UTC\n---", "`expiryDate` is over"),
    "Hugo: not expired in Go's words": (HUGO, "content/a.md", "---\nexpiryDate: 2099-12-31 23:59:59 +0000 UTC\n---", ""),
    "Hugo: expired on no day": (HUGO, "content/a.md", "---\nexpiryDate: 2020 or later\n---", ""),
    "Hugo: not rendered": (HUGO, "content/a.md", "---\nbuild:\n  render: never\n---", "`build`"),
    "Hugo: headless": (HUGO, "content/a/index.md", "---\nheadless: true\n---", "`headless: true`"),
    "Hugo: by the section": ({**HUGO, "content/s/_index.md": CASCADE}, "content/s/t/a.md", "Text", "`draft: true`"),
    "Hugo: beside the section": ({**HUGO, "content/s/_index.md": CASCADE}, "content/s.md", "Text", ""),
    "Hugo: by the configuration": ({"hugo.toml": COMING}, "content/a.md", "Text", "`noindex: true`"),
    "Hugo: a site with pages to come": ({"hugo.toml": COMING}, "content/a.md", "---\ndate: 2999-01-31\nnoindex: false\n---", ""),
    "Docsy": (HUGO, "content/a.md", "---\nexclude_search: true\n---", "`exclude_search: true`"),
    "Hextra": (HUGO, "content/a.md", "---\nexcludeSearch: true\n---", "`excludeSearch: true`"),
    "Book": (HUGO, "content/a.md", "---\nbookSearchExclude: true\n---", "`bookSearchExclude: true`"),
    "Jekyll: not published": (JEKYLL, "a.md", "---\npublished: false\n---", "`published: false`"),
    "Jekyll: a post to come": (JEKYLL, "_posts/2999-01-31-a.md", "Text", "published on 2999-01-31"),
    "Jekyll: a post with a date to come": (JEKYLL, "_posts/2020-01-31-a.md", "---\ndate: 2999-01-31 10:00:00 +0100\n---", "2999"),
    "Jekyll: a page with a date": (JEKYLL, "a.md", "---\ndate: 2999-01-31\n---", ""),
    "Jekyll: a site with posts to come": ({"_config.yml": "theme: a\nfuture: true"}, "_posts/2999-01-31-a.md", "Text", ""),
    "Just the Docs": (JEKYLL, "a.md", "---\nsearch_exclude: true\n---", "`search_exclude: true`"),
    "Just the Docs: by the folder": (JUST_THE_DOCS, "inner/a.md", "Text", "`search_exclude: true`"),
    "Just the Docs: though the folder": (JUST_THE_DOCS, "inner/a.md", "---\nsearch_exclude: false\n---", ""),
    "VitePress": ({".vitepress/config.ts": ""}, "a.md", "---\nsearch: false\n---", "`search: false`"),
    "VitePress: robots": (
        {".vitepress/config.ts": ""}, "a.md", "---\nhead:\n- - meta\n  - {name: robots, content: 'noindex, follow'}\n---", "noindex"
    ),
    "Starlight": (
        {"astro.config.mjs": "", "src/content/docs/z.md": "Z"}, "src/content/docs/a.md", "---\npagefind: false\n---", "`pagefind: false`"
    ),
    "Starlight: robots": (
        {"astro.config.mjs": "", "src/content/docs/z.md": "Z"}, "src/content/docs/a.md",
        "---\nhead:\n- tag: meta\n  attrs: {name: robots, content: noindex}\n---", "noindex",
    ),
    "Docusaurus: unlisted": (DOCUSAURUS, "docs/a.md", "---\nunlisted: true\n---", "`unlisted: true`"),
    "Docusaurus: robots": (DOCUSAURUS, "docs/a.mdx", '<head>\n  <meta name="robots" content="noindex" />\n</head>\n\nText', "noindex"),
    "Docusaurus: robots in code": (DOCUSAURUS, "docs/a.md", '```html\n<head>\n<meta name="robots" content="noindex">\n```', ""),
    "Material": ({"mkdocs.yml": "site_name: A"}, "docs/a.md", "---\nsearch:\n  exclude: True\n---", "`search: {exclude: true}`"),
    "Mintlify: hidden": (NAVIGATION, "c.mdx", "---\nhidden: true\n---", "`hidden: true`"),
    "Mintlify: not in the navigation": (NAVIGATION, "a.mdx", "Text", "not in the navigation"),
    "Mintlify: all pages": (ALL_INDEXED, "a.mdx", "Text", ""),
    "Hugo: HTML": (HUGO, "content/a.html", "---\ntitle: A\n---", "is HTML, which is not read here"),
    "Hugo: HTML that is copied": (HUGO, "content/a.html", "<p>", ""),
    "Jekyll: HTML": ({"_config.yml": "theme: x"}, "a.html", "---\n---", "is HTML, which is not read here"),
    "Jekyll: HTML of a layout": ({"_config.yml": "theme: x"}, "_layouts/a.html", "---\n---", ""),
    "plain HTML": ({"b.md": "x"}, "a.html", "---\n---", ""),
    "robots": ({}, "a.md", "---\nrobots: noindex, nofollow\n---", "noindex"),
    "yes": ({}, "a.md", "---\nno-index: yes\n---", "`no-index: yes`"),
    "a date that is none of the generator's": ({}, "a.md", "---\ndate: 2999-01-31\n---", ""),
}  # fmt: skip


@pytest.mark.parametrize(("files", "name", "page", "reason"), UNPUBLISHED.values(), ids=UNPUBLISHED)
def test_a_page_is_left_out_as_its_site_does(write, files, name, page, reason):
    root = write({**files, name: page if page.endswith("Text") else f"{page}\nText"})
    items = list(build_drafts(read_folder(root, SourceRequest(str(root), "https://acme.example/"))))
    excluded = {item.origin: item.reason for item in items if isinstance(item, ExcludedPage)}
    assert (name in excluded) == bool(reason)
    assert reason in excluded.get(name, "")


TWO_NAMES = {
    "hugo.toml": "baseURL = '/'\ndefaultContentLanguage = 'en'\n[languages.en]\n[languages.fr]\n[languages.nl]\n"
}
TWO_FOLDERS = {
    "hugo.toml": "baseURL='/'\n[languages.en]\ncontentDir='content/en'\n[languages.fr]\ncontentDir='content/fr'\n"
}
STAFF = "---\ncascade: {groups: [staff]}\n---\n"
TYPE = "---\ncascade: {type: docs}\n---\n"
DEFAULTS = "theme: x\ncollections_dir: c\ncollections: {d: {output: true}}\ndefaults:\n- scope: {path: '%s'}\n  values: {groups: [staff]}\n"
FOLDERS = {  # the files of a site, one of its pages, who may read the page; None if nobody may
    "a section": ({**TWO_NAMES, "content/in/_index.md": STAFF}, "content/in/x/a.md", ("staff",)),
    "the section of another language": (
        {**TWO_NAMES, "content/in/_index.md": STAFF, "content/in/_index.nl.md": TYPE}, "content/in/a.md", ("staff",)
    ),
    "a section in another language": ({**TWO_NAMES, "content/in/_index.md": STAFF}, "content/in/a.fr.md", ("staff",)),
    "a section that is open in a language": (
        {**TWO_NAMES, "content/in/_index.md": STAFF, "content/in/_index.fr.md": "---\ncascade: {groups: []}\n---"},
        "content/in/a.fr.md", (),
    ),
    "groups of each language": (
        {**TWO_NAMES, "content/in/_index.md": STAFF, "content/in/_index.fr.md": STAFF.replace("staff", "other")},
        "content/in/a.md", ("staff",),
    ),
    "another folder for each language": (
        {**TWO_FOLDERS, "content/en/in/_index.md": STAFF, "content/fr/in/_index.md": TYPE, "content/fr/in/a.md": "T"},
        "content/en/in/a.md", ("staff",),
    ),
    "the same page in the folder of another language": (
        {**TWO_FOLDERS, "content/en/in/_index.md": STAFF, "content/fr/in/_index.md": STAFF.replace("staff", "other"),
         "content/fr/in/a.md": "T"}, "content/en/in/a.md", ("staff",),
    ),
    "the configuration and the home page": (
        {"hugo.toml": TWO_NAMES["hugo.toml"] + "[cascade]\ngroups=['staff']", "content/_index.md": TYPE}, "content/a.md", ("staff",)
    ),
    "a file of the configuration": (
        {**TWO_NAMES, "config/_default/cascade.yaml": "- groups: [staff]"}, "content/a.md", ("staff",)
    ),
    "a language of the configuration": (
        {"hugo.toml": TWO_NAMES["hugo.toml"] + "[languages.fr.cascade]\ngroups=['staff']"}, "content/a.fr.md", ("staff",)
    ),
    "a section that cannot be read": (
        {**TWO_NAMES, "content/in/_index.md": "---\ncascade: {groups: [staff}\n---"}, "content/in/x/a.md", None
    ),
    "a cascade for some pages": (
        {**TWO_NAMES, "content/in/_index.md": "---\ncascade:\n- {groups: [staff], target: {path: /x}}\n- groups: []\n---"},
        "content/in/a.md", None,
    ),
    "a cascade with capital letters": (
        {**HUGO, "content/in/_index.md": "---\nCascade: {Params: {Groups: [staff]}}\n---"}, "content/in/a.md", ("staff",)
    ),
    "a cascade that is text": ({**TWO_NAMES, "content/in/_index.md": "---\ncascade:\n  groups:staff\n---"}, "content/in/a.md", None),
    "another environment": (
        {**TWO_NAMES, "config/production/config.toml": "[cascade.params]\ngroups = ['staff']"}, "content/a.md", ("staff",)
    ),
    "parameters of the section": (
        {**HUGO, "content/in/_index.md": "---\ncascade: {params: {groups: [staff]}}\n---"}, "content/in/a.md", ("staff",)
    ),
    "parameters of the section for some pages": (
        {**HUGO, "content/in/_index.md": "---\ncascade:\n- {params: {groups: [staff]}, target: {path: /x}}\n---"},
        "content/in/a.md", None,
    ),
    "parameters of the section that differ": (
        {**HUGO, "content/in/_index.md": "---\ncascade: {groups: [a], params: {groups: [staff]}}\n---"}, "content/in/a.md", None
    ),
    "more defaults than are read": (
        {"_config.yml": DEFAULTS.replace("scope", "{}\n- " * 300 + "scope") % "x"}, "in/a.md", None
    ),
    "defaults": ({"_config.yml": DEFAULTS % "in"}, "in/a.md", ("staff",)),
    "defaults with a capital letter": ({"_config.yml": DEFAULTS.replace("groups", "Groups") % "in"}, "in/a.md", ("staff",)),
    "more defaults with a capital letter than are read": (
        {"_config.yml": DEFAULTS.replace("groups", "Groups").replace("scope", "{}\n- " * 300 + "scope") % "x"}, "in/a.md", None
    ),
    "a pattern with a capital letter that is not read": (
        {"_config.yml": DEFAULTS.replace("groups", "Groups") % "*/{x,y}"}, "in/x/a.md", None
    ),
    "defaults for a pattern": ({"_config.yml": DEFAULTS % "in/*/y"}, "in/x/y/z/a.md", ("staff",)),
    "defaults for another pattern": ({"_config.yml": DEFAULTS % "*/y"}, "in/x/y/a.md", ()),
    "defaults for a pattern that is not read": ({"_config.yml": DEFAULTS % "*/{x,y}"}, "in/x/a.md", None),
    "defaults for a path with a dot": ({"_config.yml": DEFAULTS % "./in"}, "in/a.md", ("staff",)),
    "defaults for a collection": ({"_config.yml": DEFAULTS % "_d"}, "c/_d/a.md", ("staff",)),
    "defaults and a blank entry": ({"_config.yml": DEFAULTS % "in"}, "in/b.md", ("staff",)),
}  # fmt: skip


@pytest.mark.parametrize(("files", "name", "groups"), first_of(FOLDERS.values(), 12, ids=FOLDERS))
def test_pages_have_the_groups_of_their_folder(write, files, name, groups):
    root = write({**files, name: "---\ngroups:\n---\nT" if name.endswith("/b.md") else "---\ntitle: A\n---\nT"})
    items = build_drafts(read_folder(root, SourceRequest(str(root), "")))
    pages = {item.origin: item.groups or () for item in items if isinstance(item, Page)}
    assert pages.get(name) == groups
