"""The widget's ways to the service: sockets and requests, broken and mended, against the running service."""

import contextlib
import json
import re
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from analytics.models import Feedback
from assistant.models import Message, Thread
from tests.browser.conftest import OPEN_ROOTS, SharedHostTab
from tests.browser.test_widget import COUNT_VIOLATIONS, FINISH, START, Host, delta, send
from tests.conftest import wait_for
from tests.variants import first_of

pytestmark = pytest.mark.browser

INSTALL = "How do I install acme?"
SOCKET = re.compile(r"/discovery/v1/assistant/.*/socket")
WAYS = ("socket", "requests")
OPEN_TIMEOUT = 3_000  # milliseconds after which the widget gives a socket up that does not open


class Wire:
    """The network between a browser and the service, which can be cut and mended."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.service = (address.hostname, address.port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.is_down = False
        self.live: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """From now on nothing gets through, and what is under way breaks."""
        self.is_down = True
        for end in list(self.live):
            _break(end)

    def mend(self) -> None:
        """Connections may be made again."""
        self.is_down = False

    def close(self) -> None:
        """For good."""
        self.cut()
        self.listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if self.is_down:
                    _break(near)
                else:
                    threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError), socket.create_connection(self.service) as far:
            self.live.add(near)
            while True:
                for end in select.select([near, far], [], [])[0]:
                    piece = end.recv(65536)
                    if not piece:
                        raise OSError
                    (far if end is near else near).sendall(piece)
        self.live.discard(near)
        _break(near)


def _break(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing is then a reset
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@pytest.fixture
def wire(model_service: Any) -> Iterator[Wire]:
    made = Wire(model_service.url)
    yield made
    made.close()


@pytest.fixture
def visit(browser: Browser, project: Any) -> Iterator[Callable[..., Host]]:
    """A reader's page. `way` is how it gets to the service: `socket`, or `requests` where sockets are refused."""
    contexts = []

    def make(url: str, way: str = "socket", context: Any = None) -> Host:
        if context is None:
            context = browser.new_context(permissions=["local-network-access"])
            contexts.append(context)
            context.add_init_script(OPEN_ROOTS)
            context.add_init_script(COUNT_VIOLATIONS)
        page = context.new_page()
        if way == "requests":
            page.route_web_socket(SOCKET, lambda route: route.close(code=1008))
        return Host(page, url, project.domain, project.assistant_key)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def shared_tab(browser: Browser, model_service: Any) -> Iterator[SharedHostTab]:
    """The tab of pages whose way to the service is not cut."""
    context = browser.new_context(permissions=["local-network-access"])
    context.add_init_script(OPEN_ROOTS)
    context.add_init_script(COUNT_VIOLATIONS)
    yield SharedHostTab(context, model_service.url)
    context.close()


@pytest.fixture
def reader(shared_tab: SharedHostTab, project: Any) -> Callable[..., Host]:
    """A reader's page in the shared tab. Sockets pass through Playwright, or are refused."""

    def make(way: str = "socket") -> Host:
        page = shared_tab.reset()
        if way == "socket":
            shared_tab.route_sockets(lambda route: route.connect_to_server() and None)
        return Host(page, shared_tab.origin, project.domain, project.assistant_key, shared_tab)

    return make


@pytest.fixture(scope="module")
def whole_text(shared_tab: SharedHostTab, reading_project: Any) -> str:
    """What an answer that nothing disturbs looks like."""
    page = shared_tab.reset()
    host = Host(page, shared_tab.origin, reading_project.domain, reading_project.assistant_key, shared_tab).open()
    host.ask(f"{INSTALL} fake:happy")
    expect_phase(host, "done")
    return str(host.prose.inner_text())


def expect_phase(host: Host, phase: str) -> None:
    expect(host.answers.last).to_have_attribute("data-phase", phase)


def answers_of(project: Any) -> Any:
    return Message.objects.filter(thread__project=project.project, role="assistant")


def asked_over(page: Page) -> list[str]:
    """The ways that questions go, as they go."""
    ways: list[str] = []

    def sent(frame: Any) -> None:
        if '"type":"ask"' in str(frame):
            ways.append("socket")

    page.on("websocket", lambda opened: opened.on("framesent", sent))
    page.on("request", lambda request: request.url.endswith("/message") and ways.append("requests"))
    return ways


# Sockets that do not get through


def test_without_sockets_the_question_goes_by_a_request(reader: Any, project: Any) -> None:
    host = reader("requests")
    ways = asked_over(host.page)
    host.open().ask(INSTALL)
    expect_phase(host, "done")
    host.ask("And from source?")
    expect(host.answers).to_have_count(2)
    expect_phase(host, "done")
    assert ways == ["requests", "requests"]
    assert Thread.objects.filter(project=project.project).count() == 1
    assert answers_of(project).filter(state="done").count() == 2


@pytest.mark.matrix
def test_a_policy_without_sockets_is_enough_to_be_answered(visit: Any, model_service: Any, project: Any) -> None:
    host = visit(model_service.url)
    ways = asked_over(host.page)
    url = model_service.url
    host.page.clock.install()
    host.open(csp=f"default-src 'none'; script-src {url}; connect-src {url}").ask(INSTALL)
    host.page.wait_for_function("violations.includes('connect-src')")
    host.page.clock.fast_forward(OPEN_TIMEOUT)
    expect_phase(host, "done")
    assert ways == ["requests"]
    assert answers_of(project).count() == 1


@pytest.mark.matrix
def test_a_socket_that_hangs_is_given_up_soon(visit: Any, model_service: Any, project: Any) -> None:
    host = visit(model_service.url)
    host.page.add_init_script(
        """
        window.hung = 0;
        window.WebSocket = class extends EventTarget {
            static OPEN = 1;
            readyState = 0;
            constructor() { super(); hung++; }
            close() { this.readyState = 3; }
        };
        """
    )
    host.page.clock.install()
    host.open().ask(INSTALL)
    host.page.wait_for_function("hung == 1")
    host.page.clock.fast_forward(OPEN_TIMEOUT)
    expect_phase(host, "done")
    host.ask("And from source?")
    expect(host.answers).to_have_count(2)
    expect_phase(host, "done")
    assert host.page.evaluate("hung") == 1
    host.page.reload()
    host.ask("And with pip?")
    expect(host.answers).to_have_count(3)
    expect_phase(host, "done")
    assert host.page.evaluate("hung") == 0, "the tab remembers"
    assert answers_of(project).count() == 3


@pytest.mark.matrix
@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_key_is_told_the_same_either_way(reader: Any, way: str) -> None:
    host = reader(way)
    host.tag = re.sub(r'data-key="[^"]*"', 'data-key="svc_dsc_wrong"', host.tag)
    host.open().ask("Anything?")
    expect_phase(host, "failed")
    expect(host.answers).to_contain_text("401")


# A network that goes and comes


@pytest.mark.matrix
@pytest.mark.parametrize("way", first_of(reversed(WAYS), 1))
def test_an_answer_goes_on_after_the_network_was_lost(
    visit: Any, wire: Wire, upstream: Any, project: Any, whole_text: str, way: str
) -> None:
    host = visit(wire.url, way).open()
    host.ask(f"{INSTALL} fake:held {project.domain}")
    expect(host.prose).to_contain_text("To install")
    wire.cut()
    expect(host.panel).to_contain_text("Reconnecting")
    wire.mend()
    upstream.release(project.domain)
    expect_phase(host, "done")
    assert host.prose.inner_text() == whole_text
    assert answers_of(project).count() == 1, "it was not asked twice"
    expect(host.panel).not_to_contain_text("Reconnecting")


@pytest.mark.matrix
@pytest.mark.parametrize("way", first_of(WAYS, 1))
def test_an_answer_goes_on_after_the_browser_was_offline(
    visit: Any, model_service: Any, upstream: Any, project: Any, whole_text: str, way: str
) -> None:
    host = visit(model_service.url, way).open()
    host.ask(f"{INSTALL} fake:held {project.domain}")
    expect(host.prose).to_contain_text("To install")
    host.page.context.set_offline(True)
    expect(host.panel).to_contain_text("Reconnecting")
    upstream.release(project.domain)  # the rest is written while nobody reads
    host.page.context.set_offline(False)
    expect_phase(host, "done")
    assert host.prose.inner_text() == whole_text
    assert answers_of(project).count() == 1, "it was not asked twice"


@pytest.mark.parametrize("way", first_of(WAYS, 1))
def test_an_answer_goes_on_after_a_reload(
    visit: Any, model_service: Any, upstream: Any, project: Any, whole_text: str, way: str
) -> None:
    host = visit(model_service.url, way).open()
    host.ask(f"{INSTALL} fake:held {project.domain}")
    expect(host.prose).to_contain_text("To install")
    host.page.reload()
    expect(host.prose).to_contain_text("To install")
    upstream.release(project.domain)
    expect_phase(host, "done")
    assert host.prose.inner_text() == whole_text
    assert answers_of(project).count() == 1
    host.ask(INSTALL)
    expect(host.answers).to_have_count(2)
    expect_phase(host, "done")
    assert answers_of(project).count() == 2


@pytest.mark.matrix
def test_an_answer_that_is_gone_after_a_reload_is_asked_again_and_replaced(reader: Any, project: Any) -> None:
    host = reader().open()
    host.ask(f"{INSTALL} fake:endless")
    expect(host.prose).to_contain_text("on")
    host.page.evaluate(
        """() => addEventListener("pagehide", () => {
            const key = Object.keys(localStorage).find((key) => key.includes(":thread:"));
            const saved = localStorage.getItem(key).replace(/msg_\\w+/, "msg_gone").replace("fake:endless", "");
            localStorage.setItem(key, saved);
        })"""
    )
    host.page.reload()
    expect_phase(host, "failed")
    expect(host.answers).to_contain_text("connection was lost")
    assert "on on" in host.prose.inner_text()
    host.button("Try again").click()
    expect_phase(host, "done")
    assert answers_of(project).count() == 1


# Stop, retry, edit


@pytest.mark.parametrize("way", first_of(WAYS, 1))
def test_stop_ends_the_answer_at_the_service(reader: Any, upstream: Any, project: Any, way: str) -> None:
    host = reader(way).open()
    host.ask(f"{INSTALL} fake:endless {project.domain}")
    expect(host.prose).to_contain_text("on")
    host.button("Stop").click()
    expect_phase(host, "stopped")
    wait_for(lambda: upstream.last(project.domain)["ended"] == "closed by the client", "the upstream to be closed")
    wait_for(lambda: answers_of(project).get().state == "aborted", "the record")


@pytest.mark.matrix
@pytest.mark.parametrize("way", WAYS)
def test_a_stop_before_the_first_word_leaves_nothing_running(reader: Any, project: Any, way: str) -> None:
    host = reader(way).open()
    host.launcher.click()
    expect(host.panel).to_be_visible()
    panel = host.page.locator("docs-assistant-panel")
    panel.evaluate(
        """(panel) => new Promise((done) => {
            const { conversation } = panel;
            conversation.addEventListener("change", () => {
                if (conversation.thread.turns.at(-1).phase !== "sending") return;
                setTimeout(() => done(conversation.stop()), 30);
            }, { once: true });
            conversation.ask("How do I install acme? fake:endless");
        })"""
    )
    expect_phase(host, "stopped")
    wait_for(lambda: not answers_of(project).filter(state="running").exists(), "the answer to end")
    host.button("Try again").click()
    expect(host.prose).to_contain_text("on")
    host.button("Stop").click()
    wait_for(lambda: not answers_of(project).filter(state="running").exists(), "the second one to end")


@pytest.mark.matrix
def test_another_try_and_another_question_take_the_place_of_the_last(reader: Any, project: Any) -> None:
    host = reader().open()
    host.ask(f"{INSTALL} fake:endless")
    expect(host.prose).to_contain_text("on")
    host.button("Stop").click()
    host.button("Try again").click()
    expect(host.prose).to_contain_text("on")
    host.button("Stop").click()
    host.page.locator("docs-assistant-panel").evaluate(
        "(panel, text) => panel.conversation.edit(text)", "How do I install acme from source?"
    )
    expect_phase(host, "done")
    expect(host.answers).to_have_count(1)
    thread = Thread.objects.get(project=project.project)
    questions = thread.messages.filter(role="user").values_list("content", flat=True)
    assert list(questions) == ["How do I install acme from source?"]
    assert [answer.state for answer in answers_of(project)] == ["done"]


# Limits and no network


@pytest.mark.matrix
def test_a_limit_counts_down_and_then_it_is_sent(visit: Any, model_service: Any) -> None:
    host = visit(model_service.url)

    def play(route: WebSocketRoute, message: dict[str, Any]) -> None:
        if len(host.asked) < 3:
            seconds = 60 * len(host.asked)
            send(route, {"type": "error", "errorText": "Too many.", "status": 429, "retryAfter": seconds})
        else:
            for event in (START, delta("Yes."), FINISH):
                send(route, event)

    clock = host.page.clock
    clock.install()
    host.script(play).open().ask("Is it?")
    for minutes in (1, 2):
        expect(host.answers).to_contain_text(re.compile(rf"{minutes}:00|{minutes - 1}:5\d"))
        expect_phase(host, "waiting")
        clock.fast_forward(30_000)
        expect(host.answers).to_contain_text(re.compile(rf"{minutes - 1}:(30|2\d)"))
        clock.fast_forward(30_000)
        if minutes == 2:
            clock.fast_forward(60_000)
    expect_phase(host, "done")
    expect(host.prose).to_have_text("Yes.")
    assert [message["type"] for message in host.asked] == ["ask"] * 3
    assert len({json.dumps(message["messages"]) for message in host.asked}) == 1


@pytest.mark.matrix
def test_a_service_that_has_no_room_says_so_itself(reader: Any) -> None:
    host = reader()
    host.answer({"type": "error", "errorText": "Too many answers are running.", "status": 503, "retryAfter": 90})
    host.open().ask("Is it?")
    expect(host.answers).to_contain_text(re.compile(r"Too many answers are running\. Trying again in 1:[23]"))
    expect_phase(host, "waiting")


@pytest.mark.matrix
def test_a_limit_of_a_day_is_not_waited_for(reader: Any) -> None:
    host = reader()
    host.answer({"type": "error", "errorText": "Too many requests.", "status": 429, "retryAfter": 86400})
    host.open().ask("Is it?")
    expect_phase(host, "failed")
    expect(host.answers).to_contain_text("Too many requests.")
    expect(host.button("Try again")).to_be_visible()


@pytest.mark.matrix
def test_a_limit_survives_a_reload_and_can_be_given_up(visit: Any, start: Any, upstream: Any, project: Any) -> None:
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", LIMIT_ASSISTANT_ORG="1/h")
    host = visit(service.url, "requests").open()
    host.ask(INSTALL)
    expect_phase(host, "done")
    host.ask("And from source?")
    expect_phase(host, "waiting")
    host.page.reload()
    expect_phase(host, "waiting")
    host.page.locator("docs-assistant-panel").evaluate("(panel) => panel.conversation.stop()")
    expect_phase(host, "stopped")
    assert answers_of(project).count() == 1


@pytest.mark.matrix
def test_a_question_waits_for_the_network(visit: Any, model_service: Any, project: Any) -> None:
    host = visit(model_service.url).open()
    host.launcher.click()
    expect(host.panel).to_be_visible()
    host.page.context.set_offline(True)
    host.ask(INSTALL)
    expect_phase(host, "queued")
    host.page.context.set_offline(False)
    expect_phase(host, "done")
    assert answers_of(project).count() == 1


@pytest.mark.matrix
def test_a_question_that_waits_is_kept_and_can_be_taken_back(visit: Any, model_service: Any, project: Any) -> None:
    host = visit(model_service.url).open()
    host.page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => !!window.online })")
    host.page.reload()
    host.ask(INSTALL)
    expect_phase(host, "queued")
    host.page.reload()
    expect_phase(host, "queued")
    host.page.locator("docs-assistant-panel").evaluate("(panel) => panel.conversation.stop()")
    expect_phase(host, "stopped")
    host.page.evaluate("online = true; dispatchEvent(new Event('online'))")
    host.page.wait_for_load_state("networkidle")
    expect_phase(host, "stopped")
    assert answers_of(project).count() == 0


# What is remembered


def conversation(host: Host, script: str, argument: Any = None) -> Any:
    return host.page.locator("docs-assistant-panel").evaluate(f"(panel, it) => panel.conversation.{script}", argument)


def converse_twice(host: Host) -> None:
    host.ask(INSTALL)
    expect_phase(host, "done")
    host.button("New conversation").click()
    host.ask("How do I print a label?")
    expect_phase(host, "done")


@pytest.mark.matrix
def test_past_conversations_can_be_gone_on_with(reader: Any, project: Any) -> None:
    host = reader().open()
    converse_twice(host)
    (past,) = conversation(host, "pastConversations")
    assert past["title"] == INSTALL
    conversation(host, "open(it)", past["chatId"])
    expect(host.panel.locator(".question")).to_contain_text(INSTALL)
    host.ask("And from source?")
    expect(host.answers).to_have_count(2)
    expect_phase(host, "done")
    assert Thread.objects.filter(project=project.project).count() == 2
    assert sorted(thread.messages.count() for thread in Thread.objects.filter(project=project.project)) == [2, 4]


@pytest.mark.matrix
def test_forgetting_leaves_nothing_here_or_at_the_service(reader: Any, project: Any) -> None:
    host = reader().open()
    converse_twice(host)
    assert Thread.objects.filter(project=project.project).count() == 2
    assert conversation(host, "deleteData()") is True
    assert not Thread.objects.filter(project=project.project).exists()
    assert host.page.evaluate("Object.keys(localStorage)") == []
    expect(host.answers).to_have_count(0)
    host.page.reload()
    expect(host.panel).to_be_visible()
    expect(host.answers).to_have_count(0)


@pytest.mark.matrix
def test_what_the_service_did_not_forget_is_told(reader: Any) -> None:
    host = reader().open()
    host.ask(INSTALL)
    expect_phase(host, "done")
    host.page.route(re.compile("/forget$"), lambda route: route.abort())
    assert conversation(host, "deleteData()") is False
    assert host.page.evaluate("Object.keys(localStorage)") == []


@pytest.mark.matrix
def test_two_tabs_keep_their_conversations(visit: Any, model_service: Any, project: Any) -> None:
    one = visit(model_service.url).open()
    one.ask(INSTALL)
    expect_phase(one, "done")
    two = visit(model_service.url, context=one.page.context).open()
    two.launcher.click()
    expect(two.panel.locator(".question")).to_contain_text(INSTALL)
    two.button("New conversation").click()
    two.ask("How do I print a label?")
    expect_phase(two, "done")
    one.page.reload()
    expect(one.panel.locator(".question")).to_have_count(1)
    expect(one.panel.locator(".question")).to_contain_text(INSTALL)
    conversation(two, "open(it)", conversation(two, "pastConversations")[0]["chatId"])
    two.ask("And from source?")
    expect_phase(two, "done")
    one.page.bring_to_front()
    expect(one.panel.locator(".question")).to_have_count(2)
    conversation(two, "deleteData()")
    expect(one.panel.locator(".question")).to_have_count(0)


@pytest.mark.matrix
def test_two_tabs_that_wait_for_the_network_ask_once(visit: Any, model_service: Any, project: Any) -> None:
    one = visit(model_service.url).open()
    one.launcher.click()
    expect(one.panel).to_be_visible()
    context = one.page.context
    context.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => !!window.online })")
    one.page.reload()
    one.ask(INSTALL)
    expect_phase(one, "queued")
    two = visit(model_service.url, context=context).open()
    two.launcher.click()
    expect_phase(two, "queued")
    for host in (one, two):
        host.page.evaluate("online = true; dispatchEvent(new Event('online'))")
    expect_phase(one, "done")
    expect_phase(two, "done")
    assert answers_of(project).count() == 1


# Feedback


def test_a_thumb_reaches_the_owner_and_can_be_taken_back(reader: Any, project: Any) -> None:
    host = reader().open()
    host.ask(INSTALL)
    expect_phase(host, "done")
    rate = "rate(panel.conversation.thread.turns.at(-1).id, it)"
    stored = Feedback.objects.filter(project=project.project)
    conversation(host, rate, {"helpful": False, "reason": "Incomplete", "comment": "No Windows."})
    wait_for(stored.exists, "the feedback")
    row = stored.get()
    found = (row.source, row.helpful, row.reason, row.comment, row.path, row.message)
    assert found == ("contextual", False, "Incomplete", "No Windows.", "/host", answers_of(project).get())
    host.page.reload()
    expect(host.panel).to_be_visible()
    assert conversation(host, "thread.turns.at(-1).feedback.comment") == "No Windows."
    conversation(host, rate, None)
    wait_for(lambda: not stored.exists(), "the feedback to be gone")


@pytest.mark.matrix
def test_a_thumb_that_is_not_kept_goes_back(reader: Any) -> None:
    host = reader().open()
    host.ask(INSTALL)
    expect_phase(host, "done")
    host.page.route(re.compile("/feedback/"), lambda route: route.abort())
    hooks = host.page.locator("docs-assistant-panel").evaluate(
        """(panel) => new Promise((done) => {
            const { conversation } = panel, heard = [];
            conversation.addEventListener("hook", ({ detail }) => {
                heard.push(detail);
                if (detail.name === "error") done(heard);
            });
            conversation.rate(conversation.thread.turns.at(-1).id, { helpful: true, reason: "", comment: "" });
            heard.push(conversation.thread.turns.at(-1).feedback.helpful);
        })"""
    )
    assert hooks == [
        {"name": "feedback", "detail": {"helpful": True}},
        True,
        {"name": "error", "detail": {"status": 0, "kind": "feedback"}},
    ]
    assert conversation(host, "thread.turns.at(-1).feedback") is None
