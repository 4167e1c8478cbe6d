"""The React components: as client components of a server-rendered app, and in a tree that changes."""

import json
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import expect

from tests.release import browser
from tests.release.python_package import Demo
from tests.release.trial import Row, Trial, describe_size, run, serve

# Versions of React, and of a Next.js that takes it.
VARIANTS = (("18.3.1", "14.2.33"), ("19.3.1", "16.4.6"))
# A server component: it is rendered while the app is built, and has no directive of its own.
LAYOUT = """
import { DocsAssistant, DocsSearch } from "@docs-service/react";
import type { ReactNode } from "react";

const acme = %s;

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <head><link rel="icon" href="data:," /></head>
      <body>
        <header><DocsSearch {...acme} attributes={{ theme: "light" }} /></header>
        {children}
        <DocsAssistant {...acme} accent="#0a6b5d" starterQuestions={["How do I install it?"]} />
      </body>
    </html>
  );
}
"""
PAGE = "export default function Page() { return <main><h1>Acme</h1></main>; }\n"
WRONG = """
import { DocsAssistant } from "@docs-service/react";
// @ts-expect-error a variant that the widget does not have
export const wrong = <DocsAssistant service="https://a.example" domain="acme" assistantKey="k" variant="corner" />;
"""
# Strict mode mounts each component twice.
CHANGES = """
import { DocsAssistant } from "@docs-service/react";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const acme = %s;

function Changes() {
  const [label, setLabel] = useState("Ask Acme");
  const [isShown, setShown] = useState(true);
  const [theme, setTheme] = useState<"dark" | undefined>("dark");
  const [happened, setHappened] = useState("");
  return (
    <>
      <button type="button" onClick={() => setLabel("Ask again")}>Rename</button>
      <button type="button" onClick={() => setShown(!isShown)}>Toggle</button>
      <button type="button" onClick={() => setTheme(undefined)}>Light</button>
      <output>{happened}</output>
      {isShown && (
        <DocsAssistant
          {...acme}
          theme={theme}
          labels={{ launcher: label }}
          hooks={{ event: (name) => setHappened(`${name} ${label}`) }}
        />
      )}
    </>
  );
}

createRoot(document.getElementById("root")!).render(<StrictMode><Changes /></StrictMode>);
"""


def rehearse(trial: Trial, demo: Demo) -> Iterator[Row]:
    """Build an app with each variant and look at it."""
    acme = json.dumps({"service": demo.url, "domain": demo.domain, "assistantKey": demo.key})
    for react, nextjs in VARIANTS:
        folder = trial.make_folder(f"react-{react}")
        types = f"^{react.partition('.')[0]}"
        packages = {"react": react, "react-dom": react, "next": nextjs, "esbuild": "^0.28.2", "typescript": "^5.9.3"}
        packages |= {"@types/react": types, "@types/react-dom": types, "@types/node": "^24"}
        packages |= {"@docs-service/react": f"file:{trial.built.react}"}
        files = {
            "package.json": json.dumps({"name": "acme", "private": True, "dependencies": packages}),
            "next.config.mjs": 'export default { output: "export" };\n',
            "app/layout.tsx": LAYOUT % acme,
            "app/page.tsx": PAGE,
            "wrong.tsx": WRONG,
            "changes.tsx": CHANGES % acme,
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
        run("npx", "next", "build", cwd=folder, NEXT_TELEMETRY_DISABLED="1")  # checks the types of all files
        seen = ["types"]
        with serve(folder / "out") as address, browser.open_tab() as tab:
            tab.goto(address)
            picture = trial.output / "pictures" / f"react-{react}.png"
            seen.append(browser.search(tab, browser.BUTTON, picture.with_stem(f"react-{react}-search")))
            seen.append(browser.ask(tab, picture))
        seen.append(look_at_changes(folder))
        tried = f"React {react}, Next.js {nextjs}"
        yield Row("@docs-service/react", describe_size(trial.built.react), tried, ", ".join(seen))


def look_at_changes(folder: Path) -> str:
    """Rename the launcher, take its theme back, hear an event, take it away and back, in a build for development."""
    (site := folder / "changes").mkdir()
    page = '<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script src="changes.js"></script>'
    (site / "index.html").write_text(page)
    options = (
        "--bundle",
        "--jsx=automatic",
        '--define:process.env.NODE_ENV="development"',
        "--outfile=changes/changes.js",
    )
    run("npx", "esbuild", "changes.tsx", *options, cwd=folder)

    with serve(site) as address, browser.open_tab() as tab:
        tab.goto(address)
        launcher = tab.locator(browser.LAUNCHER)
        expect(launcher).to_have_text("Ask Acme")
        tab.get_by_role("button", name="Rename").click()
        expect(launcher).to_have_text("Ask again")
        expect(tab.locator("docs-assistant")).to_have_css("color-scheme", "dark")
        tab.get_by_role("button", name="Light").click()
        expect(tab.locator("docs-assistant")).to_have_css("color-scheme", "light")
        launcher.click()
        expect(tab.locator("output")).to_have_text("open Ask again")
        tab.locator("docs-assistant").get_by_role("textbox").press("Escape")
        for count in (0, 1):
            tab.get_by_role("button", name="Toggle").click()
            expect(launcher).to_have_count(count)
        expect(launcher).to_have_text("Ask again")
    return "new options, events, removal and return in strict mode"
