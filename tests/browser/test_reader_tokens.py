"""A reader's token on the tags of search and widget: with it, protected pages are found and answered from."""

import time
from typing import Any

import jwt
import pytest
from playwright.sync_api import expect

from docsite.core.tenants.models import ReaderKey
from search.indexing.ingest import ingest
from search.sources import Page
from tests.browser.conftest import SharedHostTab
from tests.browser.test_search_tag import WIDGET_TAG, SearchHost
from tests.conftest import Tenant

pytestmark = pytest.mark.browser


@pytest.fixture
def vault(shared_host_tab: SharedHostTab, service: Any, make_project: Any) -> SearchHost:
    tenant: Tenant = make_project()
    text = "# The quokka relay\n\nTo configure the quokka relay, write quokka.mode into its file."
    public = Page("b", "/b", "# Start\n\nStart acme.")
    ingest(tenant.project, [Page("a", "/a", text, groups=("staff",)), public])
    return SearchHost(shared_host_tab.reset(), service.url, tenant)


def token(tenant: Tenant) -> str:
    key = ReaderKey.objects.create(project=tenant.project, algorithm="HS256")
    claims = {"aud": tenant.domain, "exp": time.time() + 600, "groups": ["staff"]}
    return jwt.encode(claims, key.secret, "HS256", headers={"kid": key.kid})


def test_the_search_finds_protected_pages_with_a_token_and_remembers_none(vault: SearchHost) -> None:
    vault.open()
    vault.page.keyboard.press("Control+k")
    vault.field.fill("quokka relay")
    expect(vault.dialog.get_by_text("The quokka relay")).to_have_count(0)
    expect(vault.dialog.get_by_text("No ").first).to_be_visible()
    vault.page.evaluate(
        "token => (document.querySelector('script[src$=\"/search.js\"]').dataset.readerToken = token)",
        token(vault.tenant),
    )
    vault.field.fill("quokka relay file")
    found = vault.options.filter(has_text="The quokka relay").first
    expect(found).to_be_visible()
    docs = "https://docs.acme.example/**"
    vault.page.route(docs, lambda route: route.fulfill(body="A", content_type="text/html"))
    found.click()
    vault.page.wait_for_url(docs)
    vault.page.goto(f"{vault.url}/host")
    assert "quokka" not in vault.page.evaluate("JSON.stringify(localStorage)")


def test_the_widget_answers_from_protected_pages_with_a_token(vault: SearchHost) -> None:
    signed = token(vault.tenant)
    vault.open(head=vault.tag(WIDGET_TAG, f'data-reader-token="{signed}"'))
    ask = "How do I configure the quokka relay?"
    vault.page.wait_for_function("window.DocsAssistant")
    vault.page.evaluate("text => DocsAssistant.ask(text)", ask)
    widget = vault.page.locator("docs-assistant")
    expect(widget.get_by_text("quokka.mode").first).to_be_visible()
    vault.page.evaluate("DocsAssistant.update({ readerToken: '' }); DocsAssistant.reset()")
    expect(widget.get_by_text("quokka.mode")).to_have_count(0)
    vault.page.evaluate("text => DocsAssistant.ask(text)", ask)
    expect(widget.get_by_text("documentation").first).to_be_visible()
    expect(widget.get_by_text("quokka.mode")).to_have_count(0)
