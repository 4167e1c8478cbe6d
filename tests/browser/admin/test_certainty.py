"""An owner judges answers with keys, in a browser."""

import pytest
from playwright.sync_api import Browser, expect

from docsite.extras.replay.models import Judgement
from tests.assistant.improving.gaps.conftest import store_answer
from tests.browser.conftest import log_in, violations
from tests.conftest import Service, Tenant, logged_in

pytestmark = pytest.mark.browser


@pytest.mark.matrix
def test_a_key_that_is_held_down_judges_one_answer(browser: Browser, service: Service, project: Tenant) -> None:
    """The answers after it were not read. The last judgement can be undone."""
    for number in range(3):
        store_answer(project.project, f"How do I install acme {number}?", "answered", chance=0.9)
    context = browser.new_context(base_url=service.url, bypass_csp=True)
    log_in(context, service.url, logged_in(f"owner of {project.domain}", project.project.organization))
    page = context.new_page()
    address = f"/admin/project/{project.domain}/certainty"
    page.goto(address)
    left = page.locator("#judge .quiet", has_text=" left")
    for question, number in ((2, 2), (1, 1)):
        expect(page.locator("#judge strong")).to_have_text(f"How do I install acme {question}?")
        with page.expect_navigation():
            page.keyboard.down("r")
        for _ in range(5):  # as a keyboard repeats it
            page.keyboard.down("r")
        page.keyboard.up("r")
        page.goto(address)
        assert left.inner_text() == f"{number} left"
    assert violations(page) == []
    page.get_by_role("button", name="Undo the last one").click()
    expect(left).to_have_text("2 left")
    expect(page.locator("#judge strong")).to_have_text("How do I install acme 1?")
    assert Judgement.objects.filter(project=project.project).count() == 1
    context.close()
