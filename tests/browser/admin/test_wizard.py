"""A new project, from its address to the first question of a reader, through every step of the wizard."""

import os
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import scenarios
from tests.browser.conftest import COUNT_VIOLATIONS, OPEN_ROOTS, VIEWPORT, follow, violations
from tests.docsite.setup.small_site import serve_site

pytestmark = pytest.mark.browser


def log_in(page: Page, url: str, database: dict[str, str]) -> None:
    password = {"DJANGO_SUPERUSER_PASSWORD": "correct-horse"}
    made = scenarios.complete(
        *("createsuperuser", "--noinput", "--username", "wizard", "--email", "w@acme.example"), **database, **password
    )
    assert made.returncode == 0, made.stderr
    page.goto(f"{url}/admin/")
    page.fill("#id_username", "wizard")
    page.fill("#id_password", "correct-horse")
    follow(page.locator("input[type=submit]"))


@pytest.mark.matrix
def test_an_owner_adds_a_project_and_sees_the_first_question_arrive(
    browser: Browser, start: Any, own_database: dict[str, str]
) -> None:
    """In a database of its own: a service that may not read the site's private address must not take the source."""
    tags: list[str] = []
    with serve_site(tags=tags) as address:
        service = start.fresh(**own_database, CRAWL_PRIVATE_HOSTS=address.removeprefix("http://"))
        context = browser.new_context(viewport=VIEWPORT, permissions=["local-network-access"])
        context.add_init_script(OPEN_ROOTS)
        context.add_init_script(COUNT_VIOLATIONS)
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        log_in(page, service.url, own_database)
        follow(page.get_by_role("link", name="Add a project", exact=True))

        page.get_by_label("Address").fill(address)
        follow(page.get_by_role("button", name="Look at it"))
        expect(page.get_by_role("status").first).to_contain_text("1 of 5 addresses cannot be read")
        expect(page.locator("tr", has_text="/gone")).to_contain_text("answers 404")
        assert violations(page, ".wizard") == []
        follow(page.get_by_role("button", name="Continue"))

        domain = f"heron-{os.getpid()}"
        expect(page.get_by_label("Name:")).to_have_value("Heron handbook")
        page.get_by_label("Domain").fill(domain)
        page.get_by_label("New organization").fill(f"Herons {domain}")
        assert violations(page, ".wizard") == []
        follow(page.get_by_role("button", name="Create the project"))

        state = page.locator(".source")
        expect(state.locator(".badge")).to_have_text("Read")  # without a reload
        expect(state).to_contain_text("4 added")
        assert violations(page, ".wizard") == []
        follow(page.get_by_role("link", name="Continue to the tag"))

        expect(page.locator(".arrivals")).to_contain_text("waiting for the first question")
        tags += page.locator("pre.sample").all_inner_texts()
        assert re.search(rf'data-domain="{domain}" data-key="svc_dsc_\w+"', tags[0])
        assert violations(page, ".wizard") == []

        reader = context.new_page()
        reader.goto(f"{address}/install")
        reader.get_by_role("button", name="Ask").first.click()
        field = reader.get_by_label("Your question")
        field.fill("How do I install heron?")
        field.press("Enter")
        expect(reader.get_by_role("dialog")).to_contain_text("pip install heron")
        expect(page.locator(".arrivals li").first).to_contain_text("received")  # without a reload
        expect(page.locator(".arrivals li").last).to_contain_text("received")
        assert problems == []
        page.reload()  # without axe, whose style sheet the policy stops
        expect(page.locator(".arrivals li").first).to_contain_text("received")
        assert page.evaluate("violations") == []
        context.close()
