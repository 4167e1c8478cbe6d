"""The tab that tests share: what one test leaves, the next one does not meet."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import VIEWPORT, SharedHostTab
from tests.conftest import Service

pytestmark = pytest.mark.browser

STORED = """async () => [
    localStorage.length, sessionStorage.length, document.cookie, (await caches.keys()).length,
    (await indexedDB.databases()).length,
    matchMedia("print").matches, matchMedia("(prefers-color-scheme: dark)").matches,
]"""
STORE = """async () => {
    localStorage.setItem("left", "1");
    sessionStorage.setItem("left", "1");
    document.cookie = "left=1; path=/";
    await caches.open("left");
    await new Promise((done) => (indexedDB.open("left").onsuccess = done));
    addEventListener("pagehide", () => {
        localStorage.setItem("late", "1");
        sessionStorage.setItem("late", "1");
    });
}"""
SOCKET = """(url) => new Promise((done) => {
    const socket = new WebSocket(url);
    socket.onmessage = ({ data }) => done(data);
    socket.onclose = () => done("closed");
})"""


@pytest.mark.matrix
def test_nothing_of_a_test_is_met_by_the_next(shared_host_tab: SharedHostTab, service: Service) -> None:
    tab = shared_host_tab
    page = tab.reset()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.route("**/left", lambda route: route.fulfill(body="<h1>Left</h1>", content_type="text/html"))
    tab.route_sockets(lambda socket: socket.send("answered"))
    page.goto(f"{service.url}/left")
    page.evaluate(STORE)
    page.set_viewport_size({"width": 400, "height": 300})
    page.emulate_media(media="print", color_scheme="dark")
    with page.expect_popup():
        page.evaluate("open('/left')")
    assert page.evaluate(SOCKET, f"{service.url}/socket") == "answered"
    assert page.evaluate("console.log('first'), 1") == 1
    assert heard == ["first"]
    clean = [0, 0, "", 0, 0, False, False]
    left = page.evaluate(STORED)
    assert [value == empty for value, empty in zip(left, clean, strict=True)] == [False] * 7

    assert tab.reset() is page
    page.goto(f"{service.url}/left")
    expect(page.get_by_role("heading", name="Left")).to_have_count(0)
    assert page.evaluate(STORED) == clean
    assert page.evaluate("[innerWidth, innerHeight]") == list(VIEWPORT.values())
    assert page.context.pages == [page]
    assert page.evaluate(SOCKET, f"{service.url}/socket") == "closed"
    assert page.evaluate("console.log('second'), 1") == 1
    assert heard == ["first"]
