"""The widget's composer in a browser: what goes with a question and how it gets there, editing, and the menu."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import box_of
from tests.browser.test_widget import FINISH, PHONE, START, Host, delta, make_host, send
from tests.browser.test_widget import host as plain_host
from tests.conftest import Tenant

__all__ = ["make_host", "plain_host"]  # fixtures
pytestmark = pytest.mark.browser

PAGE = """
<main id=content>
  <p id=first>Labels are printed before the parcel leaves.</p>
  <p>Two <b>words</b></p>
  <figure><figcaption>app.py</figcaption><pre id=code><code class="language-python">import acme
acme.run()</code></pre></figure>
  <div class="highlight-rust"><pre class=plain>fn</pre></div>
  <p id=draft contenteditable>A secret draft of mine</p>
  <input id=field value="A secret field of mine"><textarea id=area>A secret area of mine</textarea>
</main>
"""
LONG = "\n".join(f"line {number}" for number in range(12))
HOSTILE = "<img src=x onerror='window.bad=1'>"


@pytest.fixture
def host(plain_host: Host) -> Host:
    return plain_host.answer(START, delta("Yes."), FINISH)


@pytest.fixture
def opened(host: Host) -> Host:
    """The panel over a page with things to point at, before anything was asked."""
    host.open(body=PAGE)
    host.launcher.click()
    expect(labels(host)).to_have_count(1)
    expect(host.field).to_be_focused()
    return host


def labels(host: Host) -> Any:
    return host.panel.locator(".chip span")


def sent(host: Host, question: str = "What is this?") -> dict[str, Any]:
    """What the service got with a question."""
    before = len(host.asked)
    host.ask(question)
    expect(host.answers.last).to_have_attribute("data-phase", "done")
    assert len(host.asked) == before + 1
    return host.asked[-1]


def select(host: Host, selector: str, *, end: str = "") -> None:
    """Select the content of an element of the page, or all from it to the end of another."""
    host.page.evaluate(
        """([from, to]) => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector(from));
            const last = document.querySelector(to || from);
            range.setEnd(last, last.childNodes.length);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""",
        [selector, end],
    )


def paste(host: Host, text: str, *, name: str = "", content: str = "") -> None:
    """What the browser does with a paste: it tells the field, and puts the text in unless that was prevented."""
    host.field.evaluate(
        """(field, [text, name, content]) => {
            const data = new DataTransfer();
            if (text) data.setData("text/plain", text);
            if (name) data.items.add(new File([content], name));
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            if (field.dispatchEvent(event)) document.execCommand("insertText", false, text);
        }""",
        [text, name, content],
    )


DROP = """(target, files) => {
    const data = new DataTransfer();
    for (const { name, bytes } of files) data.items.add(new File([new Uint8Array(bytes)], name));
    for (const type of ["dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
}"""


def drop(host: Host, **files: bytes) -> None:
    host.panel.get_by_role("heading", name="What are you looking for?").evaluate(
        DROP, [{"name": name.replace("_", "."), "bytes": list(content)} for name, content in files.items()]
    )


# The page


@pytest.mark.matrix
def test_the_page_goes_along_until_its_chip_is_removed(opened: Host) -> None:
    expect(labels(opened)).to_have_text(["This page: Host"])
    remove = opened.button("Remove This page: Host")
    expect(remove).to_be_visible()
    assert min(box_of(remove)[side] for side in ("width", "height")) >= 24
    remove.click()
    expect(opened.panel.locator(".chip")).to_have_count(0)
    assert opened.focused() == "Your question"
    assert "currentPath" not in sent(opened)
    opened.page.reload()
    expect(opened.prose).to_have_text("Yes.")
    assert "currentPath" not in sent(opened)


@pytest.mark.matrix
def test_the_page_chip_follows_a_site_that_swaps_pages(opened: Host) -> None:
    opened.page.evaluate("history.pushState(null, '', '/host/second'); document.title = 'Second <b>page</b>'")
    expect(labels(opened)).to_have_text(["This page: Second <b>page</b>"])
    opened.page.evaluate("document.title = 'Third · Acme'")
    expect(labels(opened)).to_have_text(["This page: Third"])
    expect(labels(opened)).to_have_attribute("title", "Third · Acme")
    assert sent(opened)["currentPath"] == "/host/second"
    expect(opened.panel.locator(".chip")).to_have_count(0)


@pytest.mark.matrix
def test_the_menu_brings_the_page_back(opened: Host) -> None:
    opened.button("Remove This page: Host").click()
    opened.button("More").click()
    tell = opened.panel.get_by_role("menuitemcheckbox", name="Tell which page I am on")
    expect(tell).to_have_attribute("aria-checked", "false")
    tell.click()
    expect(labels(opened)).to_have_text(["This page: Host"])
    assert sent(opened)["currentPath"] == "/host"


@pytest.mark.matrix
def test_all_that_can_go_along_is_in_sight(opened: Host) -> None:
    opened.page.evaluate(
        "DocsAssistant.open({ context: Array.from('abcde', (value) => ({ value: value.repeat(60) })) })"
    )
    expect(labels(opened)).to_have_count(1 + 5)
    chips = opened.panel.locator(".chips")
    assert chips.evaluate("(list) => list.scrollHeight <= list.clientHeight && list.scrollWidth <= list.clientWidth")
    tops = {box_of(chip)["y"] for chip in opened.panel.locator(".chip").all()}
    assert len(tops) == 3


@pytest.mark.matrix
def test_a_finger_hits_what_removes_a_chip(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport=PHONE, has_touch=True, is_mobile=True).answer(START, delta("Yes."), FINISH)
    host.open(body=PAGE).show()
    button = host.button("Remove This page: Host")
    hit = """(button) => {
        const { left, top, width, height } = button.getBoundingClientRect();
        const [x, y] = [left + width / 2, top + height / 2];
        const at = [[x - 21, y], [x + 21, y], [x, y - 21], [x, y + 21]];
        return at.map(([x, y]) => button.contains(button.getRootNode().elementFromPoint(x, y)));
    }"""
    assert button.evaluate(hit) == [True] * 4


# Selections


@pytest.mark.matrix
def test_what_is_selected_goes_along(opened: Host) -> None:
    select(opened, "#first")
    chip = labels(opened).last
    expect(chip).to_have_text("“Labels are printed before the pa…”")
    assert opened.asked == []
    assert sent(opened)["context"] == [
        {
            "type": "textSelection",
            "value": "Labels are printed before the parcel leaves.",
            "path": "/host",
            "elementId": "first",
        }
    ]
    expect(opened.panel.locator(".composer .chip")).to_have_count(0)
    assert "context" not in sent(opened, "And now?")


@pytest.mark.matrix
def test_what_was_selected_before_opening_goes_along(host: Host) -> None:
    host.open(body=PAGE)
    host.launcher.hover()  # which loads the panel
    expect(host.page.locator("docs-assistant-panel")).to_be_attached()
    select(host, "#first")
    host.launcher.click()
    expect(labels(host)).to_have_text(["This page: Host", re.compile("“Labels are")])


@pytest.mark.matrix
def test_the_next_selection_takes_the_place_of_the_one_before(opened: Host) -> None:
    select(opened, "#first")
    expect(labels(opened)).to_have_count(2)
    select(opened, "#code")
    expect(labels(opened)).to_have_text(["This page: Host", "app.py · 2 lines"])
    opened.page.evaluate("getSelection().removeAllRanges()")
    [context] = sent(opened)["context"]
    assert context == {"type": "code", "value": "import acme\nacme.run()", "path": "/host", "elementId": "code"}


@pytest.mark.matrix
def test_code_is_named_by_its_language_and_needs_no_three_words(opened: Host) -> None:
    select(opened, "pre.plain")
    expect(labels(opened)).to_have_text(["This page: Host", "rust · 1 line"])


@pytest.mark.matrix
def test_few_words_drafts_fields_and_the_widgets_own_text_are_left_alone(opened: Host) -> None:
    for selector in ("b", "#draft", "#content"):
        select(opened, selector)
        opened.page.wait_for_timeout(500)
        expect(labels(opened), selector).to_have_count(1)
    own = opened.panel.get_by_text("Ask in your own words")
    for text in (opened.page.locator("#field"), opened.page.locator("#area"), own):
        text.select_text()
        opened.page.wait_for_timeout(500)
        expect(labels(opened)).to_have_count(1)


@pytest.mark.matrix
def test_a_removed_selection_is_not_offered_again(opened: Host) -> None:
    select(opened, "#first")
    opened.button("Remove “Labels are printed before the pa…”").click()
    expect(labels(opened)).to_have_count(1)
    assert opened.focused() == "Remove This page: Host"
    opened.button("Close").click()
    select(opened, "#first")
    opened.launcher.click()
    opened.page.wait_for_timeout(500)
    expect(labels(opened)).to_have_count(1)
    assert "context" not in sent(opened)


# The page's own script


@pytest.mark.matrix
def test_a_page_can_give_what_a_question_is_about(opened: Host) -> None:
    opened.page.evaluate(
        """(hostile) => DocsAssistant.open({ context: [
            { type: "code", value: "ls", name: hostile },
            { type: "code", value: "ls" },
            { value: "€".repeat(33000), path: "/a", elementId: 5 },
            { value: 5 }, null, { value: "  " },
        ] })""",
        HOSTILE,
    )
    expect(labels(opened)).to_have_text(
        ["This page: Host", "<img src=x onerror='window.bad=1… · 1 line", re.compile("“€+…”")]
    )
    first, second = sent(opened)["context"]
    assert first == {"type": "code", "value": "ls"}
    assert second == {"type": "textSelection", "value": "€" * 32_000, "path": "/a"}
    assert opened.page.evaluate("window.bad") is None


@pytest.mark.matrix
def test_no_more_than_five_go_along(opened: Host) -> None:
    opened.page.evaluate("DocsAssistant.open({ context: Array.from('abcdefg', (value) => ({ value })) })")
    expect(labels(opened)).to_have_count(1 + 5)
    expect(opened.panel.locator(".remark span")).to_have_text("No more than 5 things can go with one question.")
    assert [item["value"] for item in sent(opened)["context"]] == list("abcde")


# Pasting and dropping


@pytest.mark.matrix
def test_a_long_paste_becomes_a_chip_and_a_second_one_text(opened: Host) -> None:
    paste(opened, LONG)
    expect(labels(opened).last).to_have_text("Pasted text · 12 lines")
    expect(opened.field).to_have_value("")
    expect(opened.panel.locator(".remark")).to_contain_text("Paste again")
    paste(opened, LONG)
    expect(opened.field).to_have_value(LONG)
    expect(labels(opened)).to_have_count(1)
    opened.field.fill("")
    paste(opened, LONG)
    assert sent(opened)["context"] == [{"type": "code", "value": LONG}]


@pytest.mark.matrix
def test_a_short_paste_and_a_plain_one_stay_text(opened: Host) -> None:
    paste(opened, "one\ntwo")
    expect(opened.field).to_have_value("one\ntwo")
    opened.field.fill("")
    opened.field.dispatch_event("keydown", {"key": "V", "ctrlKey": True, "shiftKey": True})
    paste(opened, LONG)
    expect(opened.field).to_have_value(LONG)
    expect(labels(opened)).to_have_count(1)


@pytest.mark.matrix
def test_text_files_can_be_dropped_and_pasted(opened: Host) -> None:
    drop(opened, app_py=b"import acme\n\nacme.run()\n", other_toml=b"[tool]")
    expect(labels(opened)).to_have_text(["This page: Host", "app.py · 3 lines", "other.toml · 1 line"])
    paste(opened, "", name=HOSTILE, content="x")
    expect(labels(opened)).to_have_count(4)
    values = [(item["type"], item["value"]) for item in sent(opened)["context"]]
    assert values == [("code", "import acme\n\nacme.run()"), ("code", "[tool]"), ("code", "x")]
    assert opened.page.evaluate("window.bad") is None


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("content", "remark"),
    [(b"\x89PNG\x00\xff", "a.bin is not a text file."), (b"x" * 262_145, "a.bin is larger than 256 KB.")],
)
def test_other_files_are_told_off(opened: Host, content: bytes, remark: str) -> None:
    drop(opened, a_bin=content)
    expect(opened.panel.locator(".remark span")).to_have_text(remark)
    expect(opened.panel.get_by_role("status")).to_have_text(remark)
    expect(labels(opened)).to_have_count(1)
    opened.field.press_sequentially("x")
    expect(opened.panel.locator(".remark")).to_be_hidden()


@pytest.mark.matrix
def test_where_files_may_be_dropped_is_shown(opened: Host) -> None:
    title = opened.panel.get_by_role("heading", name="What are you looking for?")
    title.evaluate(DROP.replace('["dragover", "drop"]', '["dragover"]'), [{"name": "a", "bytes": [65]}])
    expect(opened.panel.get_by_text("Drop text files here")).to_be_visible()
    title.evaluate("(title) => title.dispatchEvent(new DragEvent('dragleave', { bubbles: true }))")
    expect(opened.panel.get_by_text("Drop text files here")).to_be_hidden()


# Writing


@pytest.mark.matrix
def test_what_is_written_survives_a_reload(opened: Host) -> None:
    paste(opened, LONG)
    opened.field.press_sequentially("Half a quest")
    select(opened, "#first")
    expect(labels(opened)).to_have_count(3)
    opened.page.reload()
    expect(opened.field).to_have_value("Half a quest")
    expect(labels(opened)).to_have_text(["This page: Host", "Pasted text · 12 lines"])  # a mere selection is not kept
    sent(opened)
    opened.page.reload()
    expect(opened.field).to_have_value("")
    expect(opened.panel.locator(".composer .chip")).to_have_count(0)


@pytest.mark.matrix
def test_the_end_of_the_room_is_told(opened: Host) -> None:
    counter = opened.panel.locator(".counter")
    opened.field.fill("x" * 25_000)
    expect(counter).to_be_hidden()
    opened.field.fill("x" * 25_600)
    expect(counter).to_have_text("25,600 of 32,000 characters")
    status = opened.panel.get_by_role("status")
    expect(status).to_have_text("6,400 characters left")
    opened.field.press("End")
    opened.field.press_sequentially("yy")
    expect(counter).to_have_text("25,602 of 32,000 characters")
    expect(status).to_have_text("6,400 characters left")
    opened.field.fill("x" * 32_000)
    expect(status).to_have_text("0 characters left")


@pytest.mark.matrix
def test_the_last_question_can_be_edited(opened: Host) -> None:
    select(opened, "#code")
    expect(labels(opened)).to_have_count(2)
    sent(opened, "What is thsi?")
    opened.field.press("ArrowUp")
    expect(opened.field).to_have_value("What is thsi?")
    expect(opened.panel.locator(".composer .chip span")).to_have_text(["app.py · 2 lines"])
    expect(opened.panel.locator(".remark")).to_contain_text("Editing your last question")
    again = sent(opened, "What is this?")
    assert [part["text"] for part in again["messages"][0]["parts"]] == ["What is this?"]
    assert again["context"][0]["value"] == "import acme\nacme.run()"
    assert (again["trigger"], again["messageId"]) == ("regenerate-message", "msg_1")
    expect(opened.panel.locator(".question")).to_have_count(1)
    expect(opened.panel.locator(".remark")).to_be_hidden()


@pytest.mark.matrix
@pytest.mark.parametrize(
    "cancel", [lambda host: host.page.keyboard.press("Escape"), lambda host: host.button("Cancel").click()]
)
def test_editing_can_be_cancelled(opened: Host, cancel: Callable[[Host], None]) -> None:
    sent(opened)
    opened.field.press("ArrowUp")
    opened.field.press_sequentially(" Really?")
    opened.page.reload()
    expect(opened.field).to_have_value("What is this? Really?")
    opened.field.focus()
    cancel(opened)
    expect(opened.panel).to_be_visible()
    expect(opened.field).to_have_value("")
    expect(opened.panel.locator(".remark")).to_be_hidden()
    assert opened.focused() == "Your question"
    assert sent(opened)["trigger"] == "submit-message"
    opened.field.press("Escape")
    expect(opened.panel).to_be_hidden()


@pytest.mark.matrix
def test_nothing_is_edited_while_an_answer_comes_or_something_is_written(plain_host: Host) -> None:
    host = plain_host.script(lambda socket, message: None)
    host.open().ask("First?")
    host.field.press("ArrowUp")
    expect(host.field).to_have_value("")
    send(host.sockets[0], delta("Yes."))
    send(host.sockets[0], FINISH)
    expect(host.answers).to_have_attribute("data-phase", "done")
    host.field.fill("x")
    host.field.press("ArrowUp")
    expect(host.field).to_have_value("x")


@pytest.mark.matrix
def test_alt_and_arrows_go_from_turn_to_turn_from_the_field(opened: Host) -> None:
    sent(opened, "First?")
    sent(opened, "Second?")
    at = "root => root.getRootNode().activeElement.textContent"
    opened.field.press("Alt+ArrowUp")
    expect(opened.panel.locator(".remark")).to_be_hidden()
    assert "Yes." in opened.panel.evaluate(at)
    opened.page.keyboard.press("Alt+ArrowUp")
    assert "Second?" in opened.panel.evaluate(at)
    opened.field.focus()
    opened.page.keyboard.press("Alt+ArrowDown")
    assert "First?" in opened.panel.evaluate(at)
    opened.button("More").focus()
    opened.page.keyboard.press("Alt+ArrowUp")
    assert "Yes." in opened.panel.evaluate(at)


# Little room


@pytest.mark.matrix
def test_zoomed_in_four_times_all_is_within_reach(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport={"width": 320, "height": 256}).answer(START, delta("Yes."), FINISH)
    host.open(body=PAGE).show()
    title = host.panel.get_by_role("heading", name="What are you looking for?")
    composer = host.panel.locator(".composer")
    assert box_of(title)["y"] + box_of(title)["height"] < box_of(composer)["y"]
    host.field.fill("x\n" * 12)
    assert box_of(composer)["height"] < 150
    host.button("More").click()
    item(host, "Delete my data").click()
    yes = box_of(host.button("Delete everything"))
    assert yes["y"] + yes["height"] <= 256
    host.button("Back").click()
    expect(composer).to_be_visible()


# What is said


@pytest.mark.matrix
def test_what_an_answer_waits_for_is_said(make_host: Callable[..., Host]) -> None:
    host = make_host().script(lambda socket, message: None)
    host.open().show()
    status = host.panel.get_by_role("status")
    host.page.context.set_offline(True)
    host.ask("Is it?")
    expect(status).to_have_text("You are offline. It is sent when you are back online.")


@pytest.mark.matrix
def test_how_long_a_limit_lasts_is_said_once(plain_host: Host) -> None:
    host = plain_host.answer({"type": "error", "errorText": "Too many.", "status": 429, "retryAfter": 90})
    host.open().ask("Is it?")
    status = host.panel.get_by_role("status")
    expect(status).to_contain_text("You've asked a lot just now. Ready in 1:")
    said = status.inner_text()
    shown = host.panel.locator(".answer .status")
    before = shown.inner_text()
    expect(shown).not_to_have_text(before)
    assert status.inner_text() == said


# The menu


def item(host: Host, name: str) -> Any:
    return host.panel.get_by_role("menuitem", name=name)


@pytest.mark.matrix
def test_the_menu_by_keyboard(opened: Host) -> None:
    sent(opened)
    more = opened.button("More")
    more.focus()
    focused = "(element) => element.getRootNode().activeElement === element"
    opened.page.keyboard.press("ArrowDown")
    assert item(opened, "New conversation").evaluate(focused)
    expect(more).to_have_attribute("aria-expanded", "true")
    opened.page.keyboard.press("ArrowUp")
    assert item(opened, "About").evaluate(focused)
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("ArrowDown")
    assert item(opened, "Past conversations").evaluate(focused)
    opened.page.keyboard.press("End")
    assert item(opened, "About").evaluate(focused)
    opened.page.keyboard.press("Home")
    assert item(opened, "New conversation").evaluate(focused)
    opened.page.keyboard.press("Escape")
    expect(opened.panel.get_by_role("menu")).to_be_hidden()
    expect(opened.panel).to_be_visible()
    assert more.evaluate(focused)
    opened.page.keyboard.press("Enter")
    opened.page.keyboard.press("Tab")
    expect(opened.panel.get_by_role("menu")).to_be_hidden()
    more.focus()
    opened.page.keyboard.press("Enter")
    opened.page.keyboard.press("Enter")
    expect(opened.panel.locator(".question")).to_have_count(0)
    assert opened.focused() == "Your question"


@pytest.mark.matrix
def test_the_menu_loads_when_it_is_wanted_or_says_that_it_cannot(opened: Host) -> None:
    loaded = "() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/menu.js'))"
    assert not opened.page.evaluate(loaded)
    opened.page.route("**/menu.js", lambda route: route.abort())
    opened.button("More").click()
    expect(opened.panel.get_by_text("This could not be loaded.")).to_be_visible()
    opened.page.unroute_all()
    opened.button("Back").click()
    opened.button("More").click()
    expect(item(opened, "About")).to_be_visible()


@pytest.mark.matrix
@pytest.mark.parametrize("place", ["h1", ".greeting"])
def test_a_press_outside_closes_the_menu(opened: Host, place: str) -> None:
    opened.button("More").click()
    expect(item(opened, "Download as Markdown")).to_have_attribute("aria-disabled", "true")
    opened.page.locator(place).first.click(position={"x": 5, "y": 5})
    expect(opened.panel.get_by_role("menu")).to_be_hidden()
    expect(opened.panel).to_be_visible()


@pytest.mark.matrix
def test_the_menu_is_large_enough_to_touch(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport=PHONE, has_touch=True).answer(START, delta("Yes."), FINISH).open()
    host.launcher.tap()
    host.button("More").tap()
    for element in host.panel.locator("[role^=menuitem]").all():
        assert box_of(element)["height"] >= 44
    item(host, "About").tap()
    expect(host.panel.get_by_role("heading", name="About")).to_be_focused()
    expect(host.panel.get_by_text("24 hours")).to_be_visible()
    host.button("Back").tap()
    expect(host.panel.get_by_role("heading", name="About")).to_be_hidden()
    expect(host.panel.get_by_text("What are you looking for?")).to_be_visible()


@pytest.mark.matrix
def test_escape_leaves_a_page_of_the_menu_first(opened: Host) -> None:
    opened.button("More").click()
    item(opened, "About").click()
    opened.page.keyboard.press("Escape")
    expect(opened.panel.get_by_role("heading", name="About")).to_be_hidden()
    assert opened.focused() == "More"
    opened.page.keyboard.press("Escape")
    expect(opened.panel).to_be_hidden()


@pytest.mark.matrix
def test_the_conversation_can_be_downloaded(opened: Host, reading_project: Tenant) -> None:
    sent(opened)
    opened.button("More").click()
    with opened.page.expect_download() as download:
        item(opened, "Download as Markdown").click()
    day = datetime.now(UTC).date().isoformat()
    assert download.value.suggested_filename == f"{reading_project.domain}-{day}.md"
    text = Path(download.value.path()).read_text()
    assert "What is this?" in text
    assert "Yes." in text


@pytest.mark.matrix
def test_a_past_conversation_can_be_opened(opened: Host) -> None:
    sent(opened, HOSTILE)
    opened.button("New conversation").click()
    opened.button("More").click()
    item(opened, "Past conversations").click()
    past = opened.panel.locator(".past button")
    expect(past).to_contain_text([HOSTILE])
    past.click()
    expect(opened.panel.locator(".question")).to_contain_text(HOSTILE)
    expect(opened.panel.get_by_role("heading", name="Past conversations")).to_be_hidden()
    assert opened.focused() == "Your question"
    assert opened.page.evaluate("window.bad") is None


@pytest.mark.matrix
@pytest.mark.parametrize("reached", [True, False])
def test_what_is_known_of_a_reader_can_be_deleted(opened: Host, reached: bool) -> None:
    sent(opened)
    opened.page.route(re.compile("/forget$"), lambda route: route.fulfill(status=204) if reached else route.abort())
    opened.field.fill("And a draft")
    opened.button("More").click()
    item(opened, "Delete my data").click()
    expect(opened.panel.get_by_text("This cannot be undone")).to_be_visible()
    opened.panel.locator(".cover").get_by_role("button", name="Cancel").click()
    expect(opened.prose).to_have_text("Yes.")
    opened.button("More").click()
    item(opened, "Delete my data").click()
    opened.button("Delete everything").click()
    remark = "Your data was deleted." if reached else re.compile("The service could not be reached")
    expect(opened.panel.locator(".remark span")).to_have_text(remark)
    expect(opened.panel.get_by_role("status")).to_have_text(remark)
    expect(opened.panel.locator(".question")).to_have_count(0)
    expect(opened.field).to_have_value("")
    kept = json.dumps(opened.page.evaluate("({ ...localStorage, ...sessionStorage })"))
    assert "What is this?" not in kept
    assert "draft" not in kept.replace(':draft"', "")
