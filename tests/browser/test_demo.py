"""The demo as a newcomer meets it: one command, the site, a question, a search, and the visit in the admin."""

import json
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests import scenarios, variants
from tests.browser.conftest import OPEN_ROOTS, follow
from tests.conftest import ASYNC_UNSAFE, PATIENCE, wait_for
from tests.docsite.setup.small_site import serve_site
from tests.ports import free_port
from tests.processes import Process, manage
from tests.variants import first_of

pytestmark = pytest.mark.browser

READER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"


def run_demo(folder: Path, port: int, handbook: str) -> Process:
    """Start the demo and wait until it is ready. It may read the site `handbook`."""
    log = folder / "log"
    log.write_text("")
    environment = {name: value for name, value in os.environ.items() if name != ASYNC_UNSAFE}
    environment |= {"DATA_DIR": str(folder), "CRAWL_PRIVATE_HOSTS": handbook.removeprefix("http://")}
    process = Process(manage, ("demo", "--port", str(port), "--model", "none"), environment, log, log)
    ready = f"Ready: http://127.0.0.1:{port}/"
    wait_for(lambda: ready in log.read_text() or process.poll() is not None, "the demo")
    assert process.poll() is None, log.read_text()
    return process


@pytest.fixture(scope="module")
def handbook() -> Iterator[str]:
    """The address of a newcomer's documentation."""
    with serve_site() as address:
        yield address


@pytest.fixture(scope="module")
def logs() -> list[str]:
    """What each start printed until it was ready."""
    return []


Start = tuple[dict[str, str], dict[str, Any]]


@pytest.fixture(scope="module", params=first_of(["migrated", "empty"], 1))
def starts(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    copy_database: Callable[[Path], dict[str, str]],
    logs: list[str],
    handbook: str,
) -> Iterator[list[Start]]:
    """Starts of one demo, of which the last one runs: what it wrote down for clients, and the views it had.

    In the matrix there are two. To make the tables of an empty folder takes as long as all the rest of a start.
    """
    folder = tmp_path_factory.mktemp("demo")
    if request.param == "migrated":
        copy_database(folder)
    logs.clear()
    starts = []
    until = datetime.now(UTC).isoformat()  # the same for both, also when the day ends between them
    count = 2 if variants.collects_matrix else 1
    for number in range(1, count + 1):
        process = run_demo(folder, free_port(), handbook)
        logs.append((folder / "log").read_text())
        facts = json.loads((folder / "demo.json").read_text())
        scenarios.manage(("seal",), {"DATA_DIR": str(folder)})  # an export waits only five seconds for all views
        starts.append((facts, visitors(facts, f"&dateFrom=2020-01-01&dateTo={quote(until)}")["totals"]))
        if number == count:
            yield starts
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert (folder / "log").read_text().endswith("Stopped.\n")


@pytest.fixture
def demo(starts: list[Start]) -> dict[str, str]:
    """What the running demo wrote down for clients."""
    return starts[-1][0]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A reader's tab."""
    context = browser.new_context(user_agent=READER)
    context.add_init_script(OPEN_ROOTS)
    tab = context.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and problems.append(message.text))
    yield tab
    assert problems == []
    context.close()


def visitors(demo: dict[str, str], dates: str = "") -> dict[str, Any]:
    """The export; without dates over the default range."""
    answer = httpx.get(
        f"{demo['base_url']}/v1/analytics/{demo['project_id']}/visitors?limit=250{dates}",
        headers={"Authorization": f"Bearer {demo['admin_key']}"},
        timeout=PATIENCE,
    )
    return answer.json()


@pytest.mark.matrix
def test_keys_and_password_are_printed_at_the_first_start_only(starts: list[Start], logs: list[str]) -> None:
    (facts, _), (again, _) = starts
    first, second = logs
    for name in ("admin_key", "admin_password"):
        assert facts[name] == again[name]
        assert facts[name] in first
        assert facts[name] not in second
    assert second.count("demo.json") == 2


def test_a_reader_asks_and_lands_where_the_answer_came_from(demo: dict[str, str], page: Page) -> None:
    page.goto(f"{demo['base_url']}/quickstart")
    page.get_by_role("button", name="Ask the docs").click()
    field = page.get_by_label("Your question")
    field.fill("Which limits apply to the assistant?")
    field.press("Enter")
    link = page.get_by_role("dialog").locator(".prose sup a").first
    expect(link).to_be_visible()
    target = str(link.get_attribute("href"))
    link.click()
    page.wait_for_url(re.compile(re.escape(target.partition("#")[0])))
    assert page.locator(f"[id='{target.partition('#')[2].partition(':~:')[0]}']").count() == 1


@pytest.mark.matrix
def test_a_newcomer_tries_the_own_documentation(demo: dict[str, str], handbook: str, page: Page) -> None:
    page.goto(f"{demo['base_url']}/")
    page.get_by_label("Try it with your documentation").fill(handbook)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("4 pages with 4 sections")).to_be_visible(timeout=PATIENCE * 1000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Heron handbook")
    page.get_by_role("button", name="How do I install Heron?").click()
    expect(page.get_by_role("dialog").locator(".prose sup a").first).to_have_attribute("href", re.compile("/install"))
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_placeholder("Search Heron handbook").first.click()
    page.keyboard.type("noon")
    expect(page.get_by_role("option", name="Feed the fish").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete it now").click()
    page.wait_for_url("**/try-your-docs")
    expect(page.get_by_role("link", name="Heron handbook")).to_have_count(0)


@pytest.fixture
def other_site(logs: list[str], demo: dict[str, str], tmp_path: Path) -> Iterator[int]:
    """The port of another site on this machine, whose page has the tag that the demo has printed."""
    (tag,) = re.findall("<script.*</script>", logs[-1])
    (tmp_path / "index.html").write_text(f'<!doctype html><link rel="icon" href="data:,"><h1>Acme</h1>{tag}')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.matrix
@pytest.mark.parametrize("host", first_of(["localhost", "127.0.0.1"], 1))
def test_the_printed_tag_answers_on_another_port(other_site: int, page: Page, host: str) -> None:
    page.goto(f"http://{host}:{other_site}/")
    page.get_by_role("button", name="Ask the docs").click()
    field = page.get_by_label("Your question")
    field.fill("How do I put the widget on my site?")
    field.press("Enter")
    expect(page.get_by_role("dialog").locator(".prose sup a").first).to_be_visible()


@pytest.mark.matrix
def test_a_reader_asks_about_a_block_of_code(demo: dict[str, str], page: Page) -> None:
    page.goto(f"{demo['base_url']}/quickstart")
    block = page.locator(".code").first
    lines = block.locator("code").inner_text().rstrip().count("\n") + 1
    block.get_by_role("button", name="Ask", exact=True).click()
    name = f"{block.locator('.code-bar span').inner_text()} · {lines} line{'s' * (lines > 1)}"
    expect(page.get_by_role("dialog").get_by_role("button", name=f"Remove {name}")).to_be_visible()


@pytest.mark.matrix
def test_a_reader_searches(demo: dict[str, str], page: Page) -> None:
    page.goto(f"{demo['base_url']}/")
    page.keyboard.press("/")
    page.keyboard.type("create a project")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_contain_text("create a project")
    page.get_by_role("main").locator("a[href*='/commands'], a[href*='/quickstart']").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.matrix
def test_a_visit_shows_in_the_export_and_in_the_admin(demo: dict[str, str], page: Page) -> None:
    before = visitors(demo)["totals"]["human"]
    rows = {row["path"]: row["human"] for row in visitors(demo)["visitors"]}
    page.goto(f"{demo['base_url']}/streaming")
    page.goto(f"{demo['base_url']}/streaming")
    after = visitors(demo)
    assert after["totals"]["human"] in (before, before + 1), "the same reader as in the tests before"
    assert {row["path"]: row["human"] for row in after["visitors"]}["/streaming"] == rows["/streaming"] + 1

    page.goto(f"{demo['base_url']}/admin/")
    page.fill("#id_username", demo["admin_username"])
    page.fill("#id_password", demo["admin_password"])
    follow(page.locator("input[type=submit]"))
    follow(page.locator(".projects-list").get_by_role("link", name="Visitors"))
    tiles = page.locator(".tiles dd:first-of-type").all_inner_texts()
    assert tiles[:3] == [f"{total:,}" for total in after["totals"].values()]
    with page.expect_download() as download:
        page.get_by_role("link", name="Visitors, CSV").click()
    assert re.fullmatch(rf"{demo['domain']}-visitors(-\d{{4}}-\d\d-\d\d){{2}}\.csv", download.value.suggested_filename)
    site = ",".join(str(total) for total in after["totals"].values())
    assert download.value.path().read_text().split("\n")[1] == f"(site),{site}"
    page.goto(f"{demo['base_url']}/streaming")
    assert visitors(demo)["totals"] == after["totals"], "staff are not counted"


@pytest.mark.matrix
def test_a_key_made_in_the_admin_is_shown_once(demo: dict[str, str], page: Page) -> None:
    page.goto(f"{demo['base_url']}/admin/login/?next=/admin/projects/project/of/{demo['domain']}")
    page.fill("#id_username", demo["admin_username"])
    page.fill("#id_password", demo["admin_password"])
    follow(page.locator("input[type=submit]"))
    expect(page.locator(".facts")).to_contain_text(demo["project_id"])
    page.select_option("[name=kind]", "admin")
    page.fill("[name=name]", "Nightly export")
    follow(page.get_by_role("button", name="Create key"))
    token = page.locator(".secret code").inner_text()
    answer = httpx.get(
        f"{demo['base_url']}/v1/analytics/{demo['project_id']}/visitors",
        headers={"Authorization": f"Bearer {token}"},
        timeout=PATIENCE,
    )
    assert answer.status_code == 200
    page.goto(page.url)
    assert token not in page.content()
    row = page.locator("tr", has_text="Nightly export")
    expect(row).to_contain_text("active")
    row.get_by_label("Type “revoke”").fill("revoke")
    row.get_by_role("button", name="Revoke").click()
    expect(page.locator("tr", has_text="Nightly export")).to_contain_text("revoked")


@pytest.mark.matrix
def test_the_demo_started_again_keeps_its_data_and_keys(starts: list[Start]) -> None:
    (first, first_totals), (second, second_totals) = starts
    assert {**first, "base_url": ""} == {**second, "base_url": ""}
    assert first_totals == second_totals
    assert first_totals["human"] > 0
