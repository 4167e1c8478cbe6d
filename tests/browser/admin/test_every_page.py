"""Every page of the admin, light and dark and on a phone: axe finds nothing, and nothing is wider than the screen."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.urls import NoReverseMatch, reverse
from playwright.sync_api import Browser, Page

from docsite.core.workspace import navigation
from tests.browser.conftest import AXE, log_in, violations
from tests.conftest import Service, Tenant, logged_in
from tests.docsite.core.workspace import test_roles

pytestmark = pytest.mark.browser

rows = test_roles.rows  # of each kind of thing one
FILES = ("_file", "_lines", "_export", "_live", "_state", "_markdown", "_act", "_redact", "_run", "_read", "_history")
STILL = "*, ::before, ::after { transition: none !important; }"  # colours change at once
PHONE, SCREEN = {"width": 390, "height": 844}, {"width": 1280, "height": 768}


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """The tab of a superuser, whose policy lets axe in."""
    context = browser.new_context(base_url=service.url, bypass_csp=True)
    log_in(context, service.url, logged_in("looks at every page", is_superuser=True))
    context.add_init_script(AXE())
    yield context.new_page()
    context.close()


def list_addresses(project: Tenant, rows: dict[str, Any]) -> dict[str, str]:
    """The addresses of pages, by name: those of projects, of models with a row each, and of the log-in."""
    patterns = {pattern.name: pattern for pattern in test_roles.walk(admin.site.get_urls())}
    known = {name: test_roles.find_key(row) for name, row in rows.items()}
    known |= {"domain": project.domain, "thread_id": rows["thread"].thread_id}
    known |= {"feedback_id": rows["feedback"].feedback_id}
    found = {}
    for name, row in test_roles.ADDRESSES.items():
        if name.endswith(FILES) and name != "workspace_conversations_read":
            continue
        own = {key: known[value[1:]] if value[0] == "@" else value for key, value in (row.arguments or {}).items()}
        arguments = {key: {**known, **own}[key] for key in patterns[name].pattern.converters}
        found[name] = reverse(f"admin:{name}", kwargs=arguments) + row.query
    objects = {type(row)._meta.label_lower.replace(".", "_"): row for row in rows.values()}
    objects |= {"projects_project": project.project, "projects_organization": project.project.organization}
    for model in test_roles.MODELS:
        found[model] = reverse(f"admin:{model}_changelist")
        for part in ("change", "delete") if model in objects else ():
            found[f"{model}_{part}"] = reverse(f"admin:{model}_{part}", args=[objects[model].pk])
    for name in test_roles.OWN:
        try:
            found[name] = reverse(f"admin:{name}")
        except NoReverseMatch:
            continue  # it needs more than its name
    return {name: address for name, address in found.items() if name not in ("logout", "autocomplete", "jsi18n")}


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("of", ["navigation", "rest"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    page: Page, project: Tenant, rows: dict[str, Any], of: str, scheme: Any
) -> None:
    wrong = []
    page.emulate_media(color_scheme=scheme)
    first = {f"of {one.key}": one.url(project.project) for one in navigation.all_pages()} | {"start": "/admin/"}
    rest = {name: one for name, one in list_addresses(project, rows).items() if one not in first.values()}
    for name, address in (first if of == "navigation" else rest).items():
        page.set_viewport_size(SCREEN)
        answer = page.goto(address, wait_until="domcontentloaded")
        assert answer
        if answer.status in (403, 405):
            continue  # nobody may open it, or it only takes forms
        assert answer.status == 200, address
        page.add_style_tag(content=STILL)
        found = violations(page)
        page.set_viewport_size(PHONE)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
            found.append(f"{width} pixels wide")
        wrong += [f"{name} {address}: {violation}" for violation in found]
    assert not wrong, "\n".join(wrong)
