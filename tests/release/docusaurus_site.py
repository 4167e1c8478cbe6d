"""The plugin for Docusaurus, on a site with two versions."""

import json
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import expect

from tests.release import browser
from tests.release.python_package import Demo
from tests.release.trial import Row, Trial, describe_size, run, serve

# Versions of Docusaurus and of React.
VARIANTS = (("3.10.2", "18.3.1"), ("3.10.2", "19.3.1"))
CONFIG = """
export default {
  title: "Acme",
  url: "http://127.0.0.1",
  baseUrl: "/",
  onBrokenLinks: "throw",
  presets: [["classic", { docs: { routeBasePath: "/" }, blog: false }]],
  plugins: [["@docs-service/docusaurus", %s]],
};
"""
FILES = {
    "docs/index.md": "---\nslug: /\n---\n# Acme\n\nAcme keeps parcels in order. [Install](install.md)\n",
    "docs/install.md": "# Install\n\nRun `pip install acme`. [Acme](index.md)\n",
}
TOLD_VERSION = "() => document.querySelector('script[src$=\"/search.js\"]').dataset.version"


def rehearse(trial: Trial, demo: Demo) -> Iterator[Row]:
    """Build a site with each variant and look at it."""
    for docusaurus, react in VARIANTS:
        folder = trial.make_folder(f"docusaurus-{react}")
        names = {"@docusaurus/core": docusaurus, "@docusaurus/preset-classic": docusaurus, "react": react}
        package = {"name": "acme", "private": True}
        packages = {**names, "react-dom": react, "@docs-service/docusaurus": f"file:{trial.built.docusaurus}"}
        (folder / "package.json").write_text(json.dumps({**package, "dependencies": packages}))
        options = {"service": demo.url, "domain": demo.domain, "key": demo.key}
        (folder / "docusaurus.config.js").write_text(CONFIG % json.dumps(options))
        for name, text in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
        for version in ("1.0", "2.0"):
            run("npx", "docusaurus", "docs:version", version, cwd=folder)
        run("npx", "docusaurus", "build", cwd=folder)
        seen = look_at(folder / "build", trial.output / "pictures", f"docusaurus-{react}")
        tried = f"Docusaurus {docusaurus}, React {react}"
        yield Row("@docs-service/docusaurus", describe_size(trial.built.docusaurus), tried, seen)


def look_at(site: Path, pictures: Path, name: str) -> str:
    """Search and ask, and go from version to version. Returns what was seen."""
    with serve(site) as address, browser.open_tab() as tab:
        tab.goto(address)
        seen = [browser.search(tab, f".navbar {browser.BUTTON}", pictures / f"{name}-search.png")]
        tab.wait_for_function(f"({TOLD_VERSION})() === '2.0'")
        tab.goto(f"{address}/1.0/")
        tab.get_by_role("paragraph").get_by_role("link", name="Install").click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("Install")
        tab.wait_for_function(f"({TOLD_VERSION})() === '1.0'")
        tab.get_by_role("link", name="latest version").click()
        tab.wait_for_function(f"({TOLD_VERSION})() === '2.0'")
        seen += ["version of the page", browser.ask(tab, pictures / f"{name}.png")]
    return ", ".join(seen)
