"""The plug-in for MkDocs, with three themes, in an environment that has MkDocs and the wheel alone."""

from collections.abc import Iterator

from playwright.sync_api import expect

from tests.release import browser
from tests.release.python_package import Demo
from tests.release.trial import Row, Trial, describe_size, install, make_environment, run, serve

PACKAGES = ("mkdocs==1.6.1", "mkdocs-material==9.8.2")
# Themes, and what a reader clicks on.
THEMES = {
    "material": ".md-search__input",
    "mkdocs": "[data-bs-target='#mkdocs_search_modal']",
    "readthedocs": "#rtd-search-form input",
}
PAGE = "---\ntitle: Acme\ndescription: Parcels in order.\ntags: [parcels, labels]\n---\n# Acme\n\nAcme keeps parcels.\n"


def rehearse(trial: Trial, demo: Demo) -> Iterator[Row]:
    """Build a site with each theme and look at it."""
    folder = trial.make_folder("mkdocs")
    programs = make_environment(folder / "venv", "python3")
    install(programs, *PACKAGES)
    install(programs, "--no-deps", trial.built.wheel)
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(PAGE)
    settings = f'{{service: "{demo.url}", domain: {demo.domain}, key: {demo.key}}}'
    for theme, trigger in THEMES.items():
        (folder / "mkdocs.yml").write_text(
            f"site_name: Acme\nsite_url: http://127.0.0.1/\ntheme: {{name: {theme}, highlightjs: false}}\n"
            f"plugins:\n  - search\n  - docs-service: {settings}\n"
        )
        run(programs / "mkdocs", "build", "--strict", "--clean", cwd=folder, MIKE_DOCS_VERSION="2.1")
        for page in ("index.html", "404.html"):
            assert (folder / "site" / page).read_text().count(f'data-key="{demo.key}"') == 1
        html = (folder / "site" / "index.html").read_text()
        for element in ("docsearch:version", "description", "keywords"):
            assert html.count(f'<meta name="{element}"') == 1, (theme, element)
        with serve(folder / "site") as address, browser.open_tab() as tab:
            tab.goto(address)
            seen = [browser.search(tab, trigger, trial.output / "pictures" / f"mkdocs-{theme}-search.png")]
            expect(tab.locator("#__search:checked, .modal.show")).to_have_count(0)  # the theme's own search
            seen.append(browser.ask(tab, trial.output / "pictures" / f"mkdocs-{theme}.png"))
        tried = f"{', '.join(PACKAGES)}, theme {theme}"
        yield Row("docs-service (plug-in of MkDocs)", describe_size(trial.built.wheel), tried, ", ".join(seen))
