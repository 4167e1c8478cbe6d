"""The page "Costs", its prices and limits, and the notice above every page."""

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.conf import settings as django_settings

from assistant.admin.costs.known_prices import load_table
from assistant.models import AssistantSettings, Message, ModelPrice, Thread, TokenUse
from assistant.spending import answer_budget
from assistant.spending.model_prices import to_price
from assistant.spending.prices import Charge, Price, format_money
from docsite.core.tenants.models import Role
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.variants import first_of


@pytest.fixture
def page(project):
    return f"/admin/project/{project.domain}/costs"


@pytest.fixture
def model(monkeypatch):
    """The operator has a model server, with a model that has a published price."""
    changed = {"openai_base_url": "http://one/v1", "openai_model": "gpt-4o-mini"}
    monkeypatch.setattr(django_settings, "ENV", django_settings.ENV.model_copy(update=changed))


def text_of(response) -> str:
    return " ".join(unescape(response.content.decode()).split())


def test_only_people_of_the_organization_see_the_page(people, page):
    assert people.owner.get(page).status_code == 200
    assert people.teammate.get(page).status_code == 200
    assert people.stranger.get(page).status_code == 404
    assert people.stranger.post(page, {"limits": "", "limit-daily": "1"}).status_code == 404


def test_a_viewer_reads_and_does_not_change(project, page, model):
    viewer = logged_in(f"viewer of {project.domain}", project.project.organization)
    project.project.organization.memberships.update(role=Role.VIEWER)
    html = text_of(viewer.get(page))
    assert "No price is set for" in html
    assert "Save limits" not in html
    assert viewer.post(page, {"use": "gpt-4o-mini"}).status_code == 403
    assert not ModelPrice.objects.filter(project=project.project).exists()


def test_an_owner_sets_prices_and_the_audit_has_them(people, project, page, model):
    owner, prices = people.owner, ModelPrice.objects.filter(project=project.project)
    assert "no price set" in text_of(owner.get(page))
    owner.post(page, {"use": "gpt-4o-mini"})
    assert to_price(prices.get()) == Price(150_000, 75_000, 600_000)
    assert "no price set" not in text_of(owner.get(page))
    values = {"set": "", "price-model": "gpt-4o-mini", "price-read": "0.000001", "price-cached": "", "price-written": 2}
    assert owner.post(page, values).status_code == 302
    assert to_price(prices.get()) == Price(1, 1, 2_000_000)
    entries = AuditEntry.objects.filter(project=project.domain, action__startswith="model price").order_by("pk")
    assert [entry.action for entry in entries] == ["model price created", "model price changed"]
    assert entries.last().before["input_price"] == 150_000
    assert entries.last().details["input_price"] == 1
    owner.post(page, {"remove": "gpt-4o-mini"})
    assert not prices.exists()
    assert entries.filter(action="model price deleted").count() == 1


@pytest.mark.parametrize("price", first_of(["-1", "0.0000001", "10000000", "NaN", "free"], 2))
def test_a_wrong_price_is_refused(people, project, page, price):
    values = {"set": "", "price-model": "gpt-4o-mini", "price-read": price, "price-written": "1"}
    response = people.owner.post(page, values)
    assert response.status_code == 400
    assert 'id="id_price-read_error"' in response.content.decode() or "errorlist" in response.content.decode()
    assert not ModelPrice.objects.filter(project=project.project).exists()


def test_an_owner_sets_limits(people, project, page):
    people.owner.post(page, {"limits": "", "limit-daily": "", "limit-monthly": "12.5"})
    own = AssistantSettings.objects.get(project=project.project)
    assert (own.daily_cost_limit, own.monthly_cost_limit) == (None, 12_500_000)
    assert 'value="12.5"' in people.owner.get(page).content.decode()
    [entry] = AuditEntry.objects.filter(project=project.domain, object__startswith="assistant of")
    assert entry.details["monthly_cost_limit"] == 12_500_000
    people.owner.post(page, {"limits": "", "limit-daily": "0", "limit-monthly": ""})
    own.refresh_from_db()
    assert (own.daily_cost_limit, own.monthly_cost_limit) == (0, None)


def test_the_prices_of_the_operator_hold_for_all(people, project, page, model, monkeypatch):
    changed = django_settings.ENV.model_copy(update={"openai_input_price": 1.5})
    monkeypatch.setattr(django_settings, "ENV", changed)
    html = text_of(people.owner.get(page))
    assert "The operator of this service has set the prices" in html
    assert '<td class="number">1.5</td>' in html
    assert people.owner.post(page, {"use": "gpt-4o-mini"}).status_code == 400


def test_costs_are_shown_and_a_missing_price_is_not_a_zero(people, project, page):
    today = datetime.now(UTC).date()
    TokenUse.objects.create(project=project.project, day=today, tokens=1200, cost=1_234_567)
    TokenUse.objects.create(project=project.project, day=today - timedelta(days=1), tokens=77, unpriced_tokens=77)
    thread = Thread.objects.create(project=project.project)
    common = {"project": project.project, "thread": thread, "role": "assistant", "outcome": "answered", "total_ms": 9}
    for cost in (1000, 3000, None):
        Message.objects.create(rung="model", cost=cost, **common)
    Message.objects.create(rung="extractive", cost=0, **common)
    html = text_of(people.owner.get(page))
    row = '<th scope="row">{}</th><td class="number">{}</td><td class="number">{}</td>'
    assert row.format(today, "1.23", "1,200") in html
    assert row.format(today - timedelta(days=1), "no price set", "77") in html
    assert "<dt>An answer</dt><dd>0.002</dd>" in html


def test_every_page_says_that_a_limit_is_reached(people, project, page):
    overview = f"/admin/project/{project.domain}"
    AssistantSettings.objects.create(project=project.project, daily_cost_limit=1000)
    answer_budget.charge(project.project, Charge(800, 0, 800_000_000))
    assert "is reached" not in text_of(people.owner.get(overview))
    answer_budget.charge(project.project, Charge(200, 0, 200_000_000))
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert f"The daily cost limit is reached. Until {tomorrow} 00:00 UTC, answers are quoted" in text_of(
        people.owner.get(overview)
    )
    assert "0.001 of 0.001; readers get quotes" in text_of(people.owner.get(page))


def test_the_table_of_published_prices_names_its_sources():
    table = load_table()
    assert table.prices["gpt-4o-mini"].price == Price(150_000, 75_000, 600_000)
    for known in table.prices.values():
        assert known.source.startswith("https://")
        assert 0 < known.price.cached <= known.price.prompt <= known.price.reply * 2


def test_amounts_for_people():
    amounts = [0, 1, 1500, 10_000, 120_047, 1_000_000, 1_234_500_000]
    assert [format_money(amount) for amount in amounts] == [
        "0.00", "0.000001", "0.0015", "0.01", "0.12", "1.00", "1,234.50",
    ]  # fmt: skip
