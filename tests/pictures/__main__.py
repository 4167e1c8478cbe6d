"""Takes all pictures of the README and the site, from a demo whose model always gives one prepared answer.

The home page shows an answer and a report in light and dark, the page on the widget a page with the widget open. The
README shows the search dialog and a film: an answer streams, its citation is clicked, and the page marks the sentence.
"""

import base64
import os
import re
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browser.conftest import ARGUMENTS, OPEN_ROOTS, find_program
from tests.pictures import animation, model
from tests.pictures.animation import Frame
from tests.ports import free_port
from tests.processes import ROOT

FOLDER = ROOT / "static" / "site" / "img"
SCALE = 1.5
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
WHOLE = {"x": 0.0, "y": 0.0, "width": 1280.0, "height": 800.0}
FILM_FILE = ROOT / "tests" / "pictures" / "film.webp"  # only the README shows it, so it is in no package
FILM: ViewportSize = {"width": 1000, "height": 680}
MAX_FILM = 1_000_000  # bytes


def take(page: Page, name: str, clip: dict[str, float]) -> None:
    """Store a part of the page as WebP, which is small enough for a page that shows several."""
    (FOLDER / f"{name}.webp").write_bytes(shoot(page, clip))
    sys.stdout.write(f"{name}.webp\n")


def shoot(page: Page, clip: dict[str, float] | None = None, quality: int = 82) -> bytes:
    """A part of a page that was not scrolled, or what the window shows, as WebP."""
    session = page.context.new_cdp_session(page)
    region = {"clip": {**clip, "scale": 1}} if clip else {}
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": quality, **region})
    session.detach()
    return base64.b64decode(shot["data"])


def open_site(browser: Browser, theme: str, base_url: str) -> Page:
    """A tab of the site in a theme."""
    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(base_url=base_url, color_scheme=scheme, viewport=VIEWPORT, device_scale_factor=SCALE)
    context.add_init_script(OPEN_ROOTS)
    return context.new_page()


def take_answer(page: Page, theme: str) -> None:
    """The widget with an answer; in light with the page around it, too."""
    page.goto("/quickstart")
    page.locator("docs-assistant .launcher").click()
    field = page.get_by_role("dialog").get_by_role("textbox")
    field.fill(model.QUESTION)
    field.press("Enter")
    page.locator(".answer[data-phase=done]").wait_for()
    page.mouse.move(0, 0)
    page.wait_for_timeout(400)  # the end of the animations
    take(page, f"answer-{theme}", page.locator("docs-assistant [role=dialog], docs-assistant dialog").bounding_box())
    if theme == "light":
        take(page, "widget", WHOLE)


def take_report(page: Page, theme: str, password: str) -> None:
    """The visitors report of the admin."""
    page.goto("/admin/")
    page.fill("#id_username", "admin")
    page.fill("#id_password", password)
    page.click("[type=submit]")
    page.goto("/admin/analytics/pageview/visitors/demo?range=90d")
    page.set_viewport_size({"width": 1275, "height": 1200})
    page.locator(".report svg").first.wait_for()
    tiles = page.locator(".report .tiles").first.bounding_box() or {"x": 0, "y": 0}
    take(page, f"report-{theme}", {"x": tiles["x"] - 16, "y": tiles["y"] - 16, "width": 1040, "height": 640})
    page.set_viewport_size(VIEWPORT)


def take_search(page: Page) -> None:
    """The search dialog over a page."""
    page.goto("/quickstart?search=rate+limits")
    page.locator(".page-row").first.wait_for()
    take(page, "search", WHOLE)


def take_film(browser: Browser, base_url: str) -> None:
    """A question, the answer as it streams, its citation with the card, and the sentence on the page."""
    page = browser.new_context(base_url=base_url, viewport=FILM).new_page()
    page.add_init_script(OPEN_ROOTS)
    frames: list[Frame] = []

    def add_whole(milliseconds: int) -> None:
        page.wait_for_timeout(400)  # the end of the animations
        frames.append(Frame(shoot(page, quality=60), milliseconds=milliseconds))

    page.goto("/quickstart")
    page.locator("docs-assistant .launcher").click()
    field = page.get_by_role("dialog").get_by_role("textbox")
    add_whole(1000)
    field.fill(model.QUESTION)
    add_whole(1200)
    box = page.locator("docs-assistant dialog").bounding_box() or {}
    x, y = (int(box[side]) // 2 * 2 for side in ("x", "y"))
    panel = {"x": float(x), "y": float(y), "width": FILM["width"] - x, "height": FILM["height"] - y}
    field.press("Enter")
    done = page.locator(".answer[data-phase=done]")
    while not done.count():
        began = time.monotonic()
        picture = shoot(page, panel, 60)
        page.wait_for_timeout(max(0.0, 250 - (time.monotonic() - began) * 1000))
        frames.append(Frame(picture, x, y, int((time.monotonic() - began) * 1000)))
    add_whole(1500)
    citation = page.locator(".prose sup a").first
    citation.hover()
    add_whole(2000)
    citation.click()
    page.wait_for_url("**/embed*")
    add_whole(4000)
    animation.write(FILM_FILE, frames)
    size = FILM_FILE.stat().st_size
    sys.stdout.write(f"film.webp, {len(frames)} frames, {size:,} bytes\n")
    if size > MAX_FILM:
        raise SystemExit(f"The film has more than {MAX_FILM:,} bytes.")


def take_all(base_url: str, password: str) -> None:
    """Take every picture of a demo."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_program(), args=list(ARGUMENTS))
        for theme in ("light", "dark"):
            page = open_site(browser, theme, base_url)
            take_answer(page, theme)
            take_report(page, theme, password)
            if theme == "dark":
                take_search(page)
        take_film(browser, base_url)
        browser.close()


def main() -> None:
    """Start a demo with data of its own, take the pictures, and end it."""
    with tempfile.TemporaryDirectory() as folder, model.serve() as settings:
        command = [sys.executable, "manage.py", "demo", "--port", str(free_port())]
        environment = {**os.environ, "DATA_DIR": folder, **settings}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as demo:
            printed = ""
            for line in demo.stdout or ():
                printed += line
                if found := re.match(r"Ready: (\S+)", line):
                    break
            else:
                raise SystemExit(printed)
            try:
                password = re.search(r"\(admin / (\S+)\)", printed)
                take_all(found[1], password[1] if password else "")
            finally:
                demo.terminate()


if __name__ == "__main__":
    main()
