"""The names of sites: from configurations, from the pages of a site, or none."""

import pytest

from search.sources import site_names
from search.sources.html import read_html


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("mkdocs.yml", "# comment\nsite_name: Heron  # the bird\n"),
        ("website/docusaurus.config.ts", "const config = {\n  title: 'Heron',\n  tagline: 'A bird'};"),
        ("docs/.vitepress/config.mts", 'export default defineConfig({ title: "Heron" })'),
        ("astro.config.mjs", "starlight({\n title: `x`, title: 'Heron' })"),
        ("docs/conf.py", 'author = "x"\nproject = "Heron"\n'),
        ("hugo.toml", 'baseURL = "https://x.example"\ntitle = "Heron"\n'),
        ("_config.yml", "title: 'Heron'\n"),
        ("book.toml", '[book]\ntitle = "Heron"\n'),
        ("docs.json", '{"theme": "mint", "name": "Heron"}'),
        ("index.html", "<title>Welcome — Heron</title><main><h1>Welcome</h1><p>Text.</p></main>"),
    ],
)
def test_the_configuration_names_the_site(tmp_path, file, text):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert site_names.find_in_folder(tmp_path) == "Heron"


def test_a_folder_of_pages_finds_the_configuration_beside_it(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: Heron\n")
    assert site_names.find_in_folder(tmp_path / "docs") == "Heron"
    assert site_names.find_in_folder(tmp_path / "other") == ""


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("<title>Install</title>", ""),
        ("<title>Install | Heron</title>", "Heron"),
        ("<title>Install – a guide · Heron docs</title>", "Heron docs"),
        ('<title>Install | x</title><meta property="og:site_name" content="Heron">', "Heron"),
        ('<title>Install</title><meta name="application-name" content="Heron">', "Heron"),
    ],
)
def test_a_page_names_its_site(head, name):
    assert (
        read_html(f"<html><head>{head}</head><main><h1>A</h1><p>Text.</p></main>", "https://x.example/").site_name
        == name
    )


def test_pages_agree_on_a_name():
    assert site_names.agree(["Heron", "", "Heron", "a guide"]) == "Heron"
    assert site_names.agree(["a guide", "", ""]) == "", "a part of one title"
    assert site_names.agree(["Heron"]) == "Heron"
    assert site_names.agree([]) == ""
