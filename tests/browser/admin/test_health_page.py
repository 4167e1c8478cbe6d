"""The page "Limits and health" in a browser: it updates itself until its reader is logged out."""

import pytest
from playwright.sync_api import Browser, expect

from search.models import Source
from tests.browser.conftest import log_in
from tests.conftest import Service, Tenant, logged_in

pytestmark = pytest.mark.browser


@pytest.mark.matrix
def test_the_page_updates_itself_until_the_log_out(browser: Browser, service: Service, project: Tenant) -> None:
    owner = logged_in(f"health-{project.project.pk}", project.project.organization)
    context = browser.new_context(base_url=service.url)
    log_in(context, service.url, owner)
    page = context.new_page()
    page.goto(f"/admin/project/{project.domain}/limits")
    expect(page.get_by_text("Updates itself")).to_be_visible()
    Source.objects.create(project=project.project, name="<b>broken", location="/x", state="failed")
    expect(page.get_by_text("<b>broken")).to_be_visible()
    owner.logout()
    expect(page.get_by_text("The updates have ended")).to_be_visible()
    context.close()
