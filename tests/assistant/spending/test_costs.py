"""What answers cost: the prices of models, exact sums, and the limits in money that owners set."""

import logging
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.db.models.signals import post_save

from assistant.models import AssistantSettings, BudgetNotice, Message, ModelPrice, Thread, TokenUse
from assistant.spending import answer_budget, budget, cost_report
from assistant.spending.answer_budget import AnswerBudget
from assistant.spending.model_prices import find_prices, to_millionths
from assistant.spending.prices import Charge, Price, compute_charge
from assistant.upstream import Usage
from assistant.upstream.completion import Completion
from assistant.upstream.model_choice import list_models
from docsite.core.tenants.models import Organization, Project
from tests.assistant.asking.test_message_v1 import ask, parts, values
from tests.conftest import fake, question

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PRICE = Price(2_000_000, 500_000, 8_000_000)  # for a million tokens: 2.00, 0.50 and 8.00


def set_price(project, model="gpt-4o-mini", price=PRICE):
    values = {"input_price": price.prompt, "cached_input_price": price.cached, "output_price": price.reply}
    ModelPrice.objects.update_or_create(project=project, model=model, defaults=values)


def set_limit(project, **limits):
    AssistantSettings.objects.update_or_create(project=project, defaults=limits)


def reserve(answer: AnswerBudget, prompt_tokens: int, reply_tokens: int, price: Price | None = PRICE) -> str:
    most, sent = (compute_charge(price, prompt_tokens, tokens) for tokens in (reply_tokens, 0))
    return answer.reserve(most, sent)


def test_a_cost_is_exact():
    charge = compute_charge(PRICE, 1000, 100, cached_tokens=400)
    assert charge.cost == 600 * 2 + 400 * 0.5 + 100 * 8
    assert compute_charge(Price(100_000, 100_000, 0), 1, 0).cost == 1, "rounded up"
    assert sum((compute_charge(Price(100_000, 0, 0), 1, 0) for _ in range(10)), Charge()).cost == 1, "once, at the end"
    assert compute_charge(PRICE, 10, 0, cached_tokens=99).cost == 5, "no more tokens are cached than were read"


def test_tokens_without_a_price_are_counted_apart():
    both = compute_charge(None, 70, 30) + compute_charge(PRICE, 1000, 0)
    assert (both.tokens, both.cost, both.unpriced_tokens) == (1100, 2000, 100)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
        {"prompt_tokens": 9, "completion_tokens": 3, "prompt_cache_hit_tokens": 4},
    ],
)
def test_cached_tokens_are_read(usage):
    assert Completion().parse({"choices": [], "usage": usage}) == [Usage(9, 3, 0, 4)]


def test_prices_are_those_of_the_operator_or_else_of_the_owner(limits, tenant, make_project):
    assert find_prices(tenant.pk, ["gpt-4o-mini"]) == {}
    set_price(tenant)
    set_price(make_project().project, price=Price(1, 1, 1))
    assert find_prices(tenant.pk, ["gpt-4o-mini", "other"]) == {"gpt-4o-mini": PRICE}
    limits(openai_base_url="http://one/v1", openai_fallback_model="local")
    assert [model.price for model in list_models(AssistantSettings.for_project(tenant))] == [PRICE, None]
    limits(openai_input_price=0.1)
    assert find_prices(tenant.pk, ["gpt-4o-mini"]) == {"gpt-4o-mini": Price(100_000, 100_000, 0)}
    assert to_millionths(0.1) == 100_000


def test_the_smaller_limit_in_money_counts(limits, tenant):
    set_limit(tenant, daily_cost_limit=20_000, monthly_cost_limit=30_000)
    limits(daily_cost_per_project=0.05, monthly_cost_per_project=0.025)
    sizes = {limit.name: limit.size for limit in budget.list_limits(tenant) if limit.field == "cost"}
    assert sizes == {"daily cost limit": 20_000, "monthly cost limit": 25_000}


def test_answers_at_once_do_not_pass_the_owners_limit(tenant):
    set_limit(tenant, monthly_cost_limit=20_000)
    first, second = AnswerBudget(tenant), AnswerBudget(tenant)
    assert reserve(first, 5_000, 500) == ""
    assert reserve(second, 3_000, 1) == "the project's monthly cost limit is reached"
    assert not BudgetNotice.objects.filter(project=tenant).exists(), "the first one may give something back"
    assert reserve(second, 3_000, 0) == ""
    first.record(compute_charge(PRICE, 5_000, 500, cached_tokens=4_000), ended=True)
    assert TokenUse.objects.get(project=tenant).cost == 1_000 * 2 + 4_000 * 0.5 + 500 * 8
    assert reserve(AnswerBudget(tenant), 3_000, 0) == ""


def test_with_a_limit_in_money_a_model_without_a_price_is_not_asked(tenant):
    assert reserve(AnswerBudget(tenant), 10, 10, price=None) == ""
    set_limit(tenant, monthly_cost_limit=20_000)
    assert reserve(AnswerBudget(tenant), 10, 10, price=None) == answer_budget.NO_PRICE_REASON
    assert reserve(AnswerBudget(tenant), 10, 10) == ""


def test_a_new_price_changes_no_past_cost(tenant):
    for price in (PRICE, Price(20_000_000, 0, 0)):
        answer = AnswerBudget(tenant)
        reserve(answer, 1_000, 0, price)
        answer.record(compute_charge(price, 1_000, 0), ended=True)
    assert TokenUse.objects.get(project=tenant).cost == 2_000 + 20_000


def test_what_a_killed_answer_has_used_without_a_price_is_counted(tenant):
    with time_machine.travel(NOON, tick=False) as clock:
        reserve(AnswerBudget(tenant), 1_000, 500, price=None)
        clock.shift(timedelta(days=1))
        answer_budget.sweep()
    use = TokenUse.objects.get(project=tenant)
    assert (use.tokens, use.cost, use.unpriced_tokens) == (1_000, 0, 1_000)


def test_each_notice_is_stored_once(tenant, caplog):
    received = []

    def receive(sender, instance, created, **kwargs):
        if created and instance.project_id == tenant.pk:
            received.append(str(instance))

    set_limit(tenant, monthly_cost_limit=10_000)
    post_save.connect(receive, sender=BudgetNotice)
    try:
        with time_machine.travel(NOON, tick=False) as clock, caplog.at_level(logging.WARNING):
            answer_budget.charge(tenant, compute_charge(PRICE, 3_999, 0))
            assert received == []
            answer_budget.charge(tenant, compute_charge(PRICE, 1, 0))
            assert received == ["80 % of the monthly cost limit are used."]
            assert reserve(AnswerBudget(tenant), 1_001, 0) != ""
            assert reserve(AnswerBudget(tenant), 1_001, 0) != ""
            assert received[1:] == ["The monthly cost limit is reached."]
            assert [notice.starts_on for notice in budget.find_reached(tenant)] == [date(2026, 11, 1)]
            set_limit(tenant, monthly_cost_limit=11_000)
            assert budget.find_reached(tenant) == [], "the limit is raised"
            answer_budget.charge(tenant, compute_charge(PRICE, 1_500, 0))
            assert received[2:] == ["The monthly cost limit is reached."], "only the higher one of two"
            clock.shift(timedelta(days=20))
            assert budget.find_reached(tenant) == [], "a new month"
            clock.shift(timedelta(days=60))
            answer_budget.sweep()
    finally:
        post_save.disconnect(receive, sender=BudgetNotice)
    assert not BudgetNotice.objects.filter(project=tenant).exists()
    assert f"Project {tenant.domain} has used 80 % of its monthly cost limit." in caplog.messages


@pytest.mark.matrix
def test_an_answer_stores_its_cost_and_the_limit_ends_in_quotes(http, start, upstream, project):
    """The fake server counts 812 tokens read and 21 written."""
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_MODEL="priced-1")
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    answers = Message.objects.filter(project=project.project, role=Message.Role.ASSISTANT).order_by("pk")

    ask(http, service, project, context=fake("happy"))
    assert answers.last().cost is None, "no price is set"
    assert TokenUse.objects.get(project=project.project).unpriced_tokens == 833

    set_price(project.project, "priced-1")
    ask(http, service, project, context=fake("happy"))
    cost = 812 * 2 + 21 * 8
    assert answers.last().cost == cost
    assert TokenUse.objects.get(project=project.project).cost == cost

    set_limit(project.project, daily_cost_limit=cost + 1)
    response = http.post(url, json=question("How do I install acme?", context=fake("happy")), headers=project.assistant)
    statuses = [status for [status] in values(parts(response), "2") if status.get("type") == "status"]
    assert statuses[-1]["rung"] == "extractive"
    assert statuses[-1]["reason"] == "the project's daily cost limit is reached"
    assert answers.last().cost == 0, "quotes cost nothing"
    assert TokenUse.objects.get(project=project.project).cost == cost


def check_costs() -> None:
    """Check reservations, notices, reports and the migration of old rows; for SQLite and PostgreSQL."""
    organization = Organization.objects.create(name="Costs")
    domain = f"costs-{organization.pk}"
    project = Project.objects.create(organization=organization, domain=domain, name="C", docs_url="https://a.example")
    set_limit(project, monthly_cost_limit=20_000)
    with time_machine.travel(NOON, tick=False) as clock:
        answer = AnswerBudget(project)
        assert reserve(answer, 5_000, 500) == ""
        assert reserve(AnswerBudget(project), 5_000, 0) == "the project's monthly cost limit is reached"
        answer.record(compute_charge(PRICE, 5_000, 500), ended=True)
        clock.shift(timedelta(days=1))
        assert reserve(AnswerBudget(project), 5_000, 0) == "the project's monthly cost limit is reached"
        assert [str(notice) for notice in budget.find_reached(project)] == ["The monthly cost limit is reached."]
    months = cost_report.list_costs(project, date(2026, 1, 1), date(2027, 1, 1), "month")
    assert months == [cost_report.Costs(date(2026, 11, 1), 5_500, 14_000, 0)]

    thread = Thread.objects.create(project=project)
    common = {"project": project, "thread": thread, "role": "assistant", "outcome": "answered", "total_ms": 1}
    for rung, tokens, cost in (("model", 5, None), ("model", 0, None), ("model", 5, 20), ("extractive", 0, 0)):
        Message.objects.create(rung=rung, prompt_tokens=tokens, cost=cost, **common)
    assert cost_report.average_cost(project, NOON - timedelta(days=999), NOON + timedelta(days=999)) == 20


@pytest.mark.django_db
def test_costs_in_the_database():
    check_costs()
