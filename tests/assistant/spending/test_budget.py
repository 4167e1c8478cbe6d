"""What models may cost a project: reserved before they are asked, charged when the answer has ended."""

import asyncio
import concurrent.futures
import logging
import time
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.db import OperationalError, connection

from assistant.answering.record import Outcome
from assistant.conversations import threads
from assistant.models import AssistantSettings, ModelPrice, TokenReservation, TokenUse
from assistant.spending import answer_budget
from assistant.spending.answer_budget import AnswerBudget
from assistant.spending.prices import Charge, Price, compute_charge
from docsite.core.sweeper import sweep_once
from docsite.server.lifecycle import list_sweeps
from tests.assistant.asking.test_message_v1 import ask, parts, values
from tests.conftest import PATIENCE, fake, question, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.slow

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAILY = "the project's daily token limit is reached"
SHARE = "this address has used its share of the project's daily budget"


def reserve(answer: AnswerBudget, prompt_tokens: int, reply_tokens: int, price: Price | None = None) -> str:
    """Reserve so many tokens, of which the prompt is sent at once."""
    most, sent = (compute_charge(price, prompt_tokens, tokens) for tokens in (reply_tokens, 0))
    return answer.reserve(most, sent)


def used(project) -> dict[date, int]:
    return dict(TokenUse.objects.filter(project=project).values_list("day", "tokens"))


def test_what_is_reserved_counts_until_the_answer_has_ended(limits, tenant):
    limits(daily_tokens_per_project=10_000)
    first, second, third = (AnswerBudget(tenant) for _ in range(3))
    assert [reserve(each, 3_000, 1_000) for each in (first, second, third)] == ["", "", DAILY]
    first.record(Charge(500, 100), ended=False)
    assert reserve(third, 3_000, 1_000) == DAILY, "a running answer may still use all of it"
    first.record(Charge(500, 100), ended=True)
    first.record(Charge(500, 100), ended=True)  # a retry of the same save
    assert reserve(third, 3_000, 1_000) == ""
    assert reserve(AnswerBudget(tenant), 1_400, 1) == DAILY
    assert reserve(AnswerBudget(tenant), 1_400, 0) == "", "exactly the rest"
    assert sum(used(tenant).values()) == 600


def test_an_answer_grows_its_reservation(limits, tenant):
    limits(daily_tokens_per_project=10_000)
    growing = AnswerBudget(tenant)
    assert reserve(growing, 3_000, 1_000) == ""
    assert reserve(growing, 8_000, 2_000) == "", "its own reservation is not counted twice"
    assert reserve(growing, 8_000, 2_001) == DAILY
    assert TokenReservation.objects.get(project=tenant).reserved_tokens == 10_000


def test_an_answer_over_midnight_is_charged_to_the_day_of_its_beginning(limits, tenant):
    limits(daily_tokens_per_project=10_000)
    answer = AnswerBudget(tenant)
    with time_machine.travel(NOON, tick=False) as clock:
        assert reserve(answer, 5_000, 1_000) == ""
        answer.record(Charge(5_000, 500), ended=False)
        clock.shift(timedelta(days=1))
        assert reserve(AnswerBudget(tenant), 9_000, 1_000) == "", "the new day has its own budget"
        assert reserve(answer, 9_000, 1_000) == "", "and the day before its own"
        answer.record(Charge(300, 20), ended=True)  # less than was estimated yesterday
    assert used(tenant) == {NOON.date(): 320, NOON.date() + timedelta(days=1): 0}


def test_a_killed_answer_keeps_what_it_had_used(limits, tenant):
    limits(daily_tokens_per_project=10_000)
    killed, early = AnswerBudget(tenant), AnswerBudget(tenant)
    with time_machine.travel(NOON, tick=False) as clock:
        assert reserve(killed, 4_000, 2_000) == ""
        assert reserve(early, 1_000, 1_000) == ""
        killed.record(Charge(4_000, 100), ended=False)
        clock.shift(timedelta(minutes=4))
        assert reserve(AnswerBudget(tenant), 3_000, 0) == DAILY, "it may still be running"
        clock.shift(timedelta(minutes=4))
        assert reserve(AnswerBudget(tenant), 4_900, 1) == DAILY
        assert reserve(AnswerBudget(tenant), 4_900, 0) == ""
        assert used(tenant) == {NOON.date(): 4_100 + 1_000}, "of the second one, its prompt"
        killed.record(Charge(4_000, 200), ended=True)  # it was only slow
        assert used(tenant) == {NOON.date(): 4_200 + 1_000}, "charged once"


def test_answers_that_were_killed_before_midnight_are_charged_to_their_day(limits, tenant):
    with time_machine.travel(NOON, tick=False) as clock:
        reserve(AnswerBudget(tenant), 4_000, 2_000)
        clock.shift(timedelta(days=1))
        sweep_once(list_sweeps())
        assert used(tenant) == {NOON.date(): 4_000}
        assert TokenReservation.objects.filter(project=tenant).exists(), "its address has used a share of yesterday"
        clock.shift(timedelta(days=1))
        sweep_once(list_sweeps())
        assert not TokenReservation.objects.filter(project=tenant).exists()
        assert used(tenant) == {NOON.date(): 4_000}, "charged once"


def test_reservations_of_answers_that_still_run_are_not_swept(limits, tenant):
    with time_machine.travel(NOON.replace(hour=23, minute=59), tick=False) as clock:
        reserve(AnswerBudget(tenant), 4_000, 2_000)
        clock.shift(timedelta(minutes=2))
        sweep_once(list_sweeps())
        assert TokenReservation.objects.get(project=tenant).reserved_tokens == 6_000


def test_one_address_cannot_use_up_the_day(limits, tenant):
    limits(daily_tokens_per_project=100_000, daily_percent_per_address=10)
    greedy = [AnswerBudget(tenant, "203.0.113.7") for _ in range(4)]
    assert [reserve(each, 4_000, 1_000) for each in greedy] == ["", "", SHARE, SHARE]
    assert reserve(AnswerBudget(tenant, "203.0.113.8"), 4_000, 1_000) == ""
    assert reserve(AnswerBudget(tenant), 4_000, 1_000) == "", "staff has no share"
    greedy[0].record(Charge(400, 100), ended=True)
    assert reserve(greedy[2], 4_000, 500) == "", "what was not used is free again"
    assert reserve(greedy[3], 1, 0) == SHARE
    addresses = set(TokenReservation.objects.filter(project=tenant).values_list("address", flat=True))
    assert len(addresses) == 3
    assert not any("203.0.113" in address for address in addresses)


def test_every_address_may_ask_one_question(limits, tenant):
    limits(daily_tokens_per_project=100_000, daily_percent_per_address=1)
    first, second = (AnswerBudget(tenant, "203.0.113.7") for _ in range(2))
    assert reserve(first, 4_000, 1_000) == ""
    assert reserve(second, 1, 1) == SHARE


def test_money_is_limited_by_day_and_month(limits, tenant):
    price = Price(2_000_000, 2_000_000, 8_000_000)  # for a million tokens
    limits(daily_cost_per_project=0.02, monthly_cost_per_project=0.03)
    with time_machine.travel(NOON, tick=False) as clock:
        answer = AnswerBudget(tenant)
        assert reserve(answer, 6_000, 1_001, price) == "the project's daily cost limit is reached"
        assert reserve(answer, 6_000, 1_000, price) == ""
        answer.record(compute_charge(price, 6_000, 1_000), ended=True)
        assert TokenUse.objects.get(project=tenant).cost == 20_000
        clock.shift(timedelta(days=1))
        assert reserve(AnswerBudget(tenant), 6_000, 0, price) == "the project's monthly cost limit is reached"
        assert reserve(AnswerBudget(tenant), 5_000, 0, price) == ""
        clock.shift(timedelta(days=20))
        assert reserve(AnswerBudget(tenant), 6_000, 1_000, price) == "", "a new month"


def test_tokens_are_limited_by_month(limits, tenant):
    limits(monthly_tokens_per_project=10_000)
    with time_machine.travel(NOON, tick=False) as clock:
        reserve(AnswerBudget(tenant), 2_000, 0)  # it runs over midnight
        answer = AnswerBudget(tenant)
        reserve(answer, 6_000, 0)
        answer.record(Charge(6_000, 0), ended=True)
        clock.shift(timedelta(hours=12))
        assert reserve(AnswerBudget(tenant), 2_001, 0) == "the project's monthly token limit is reached"
        assert reserve(AnswerBudget(tenant), 2_000, 0) == ""


def test_the_owner_gets_one_notice_at_80_percent(limits, tenant, caplog):
    limits(daily_tokens_per_project=10_000, monthly_tokens_per_project=16_000)
    for tokens in (7_999, 1, 1, 1_000):
        with caplog.at_level(logging.WARNING):
            answer_budget.charge(tenant, Charge(tokens))
    assert caplog.messages == [f"Project {tenant.domain} has used 80 % of its daily token limit."]
    with time_machine.travel(datetime.now(UTC) + timedelta(days=1)):
        if datetime.now(UTC).day > 1:
            answer_budget.charge(tenant, Charge(4_000))
            assert caplog.messages[1:] == [f"Project {tenant.domain} has used 81 % of its monthly token limit."]


@pytest.mark.matrix
@pytest.mark.parametrize("field", first_of(["cost", "tokens"], 1))
def test_two_processes_reserve_together_and_exactly(http, start, upstream, project, field):
    """All questions are at the model at once, so only their reservations can keep them within the budget."""
    environment = {
        "OPENAI_BASE_URL": f"{upstream.url}/v1",
        "OPENAI_MODEL": "priced",
        "OPENAI_MAX_TOKENS": "1000",
        "TRUSTED_PROXIES": "127.0.0.1",
    }
    if field == "tokens":
        environment["DAILY_TOKENS_PER_PROJECT"] = "20000"
    else:  # a token costs a millionth
        AssistantSettings.objects.create(project=project.project, monthly_cost_limit=20_000)
        prices = {"input_price": 1_000_000, "cached_input_price": 1_000_000, "output_price": 1_000_000}
        ModelPrice.objects.create(project=project.project, model="priced", **prices)
    services = start.fresh(**environment), start.fresh(**environment)
    marker = f"together-{project.domain}"

    def answer(number: int) -> str:
        response = http.post(
            f"{services[number % 2].url}/discovery/v1/assistant/{project.domain}/message",
            json=question("How do I install acme?", context=fake("held", marker)),
            headers={**project.assistant, "X-Forwarded-For": f"203.0.113.{number}"},
        )
        return [data["rung"] for [data] in values(parts(response), "2") if "rung" in data][-1]

    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        answers = [pool.submit(answer, number) for number in range(24)]
        wait_for(lambda: sum(each.done() for each in answers) + len(upstream.asked(marker)) == 24, "all to be decided")
        connection.close()
        held = TokenReservation.objects.filter(project=project.project, reserved_tokens__gt=0)
        reserved = list(held.values_list(f"reserved_{field}", flat=True))
        assert len(upstream.asked(marker)) == len(reserved)
        assert 20_000 - reserved[0] < sum(reserved) <= 20_000
        upstream.release(marker)
        rungs = [each.result() for each in answers]
    assert rungs.count("model") == len(reserved) < 24
    assert getattr(TokenUse.objects.get(project=project.project), field) == 833 * len(reserved)
    assert not held.exists()


@pytest.mark.matrix
def test_an_answer_that_ends_by_kill_9_is_charged_later(http, start, upstream, project):
    environment = {"OPENAI_BASE_URL": f"{upstream.url}/v1"}
    killed, other = start.fresh(**environment), start(**environment)
    marker = f"killed-{project.domain}"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, http, killed, project, context=fake("held", marker))
        wait_for(lambda: upstream.asked(marker), "the question to reach the model")
        killed.process.kill()
        asking.exception(PATIENCE)
    rows = TokenReservation.objects.filter(project=project.project)
    row = rows.get()
    assert row.reserved_tokens > row.used_tokens > 500
    ask(http, other, project, context=fake("happy"))
    assert TokenUse.objects.get(project=project.project).tokens == 833, "it may still be running"
    rows.filter(pk=row.pk).update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    ask(http, other, project, context=fake("happy"))
    assert TokenUse.objects.get(project=project.project).tokens == 2 * 833 + row.used_tokens
    assert not rows.filter(reserved_tokens__gt=0).exists()


@pytest.mark.matrix
def test_a_question_beyond_its_limit_is_answered_with_quotes(http, start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", TOKENS_PER_QUESTION="9000")
    marker = f"long-{project.domain}"
    body = question(f"How do I install acme? {'長い' * 8000}", context=fake("happy", marker))
    response = http.post(
        f"{service.url}/discovery/v1/assistant/{project.domain}/message", json=body, headers=project.assistant
    )
    steps = [status for [status] in values(parts(response), "2") if status.get("type") == "status"]
    assert {step["reason"] for step in steps if step.get("reason")} == {"the question's token limit is reached"}
    assert upstream.asked(marker) == []
    assert not TokenUse.objects.filter(project=project.project, tokens__gt=0).exists()
    assert ask(http, service, project, context=fake("happy", marker)).status_code == 200
    assert len(upstream.asked(marker)) == 1


def test_a_model_gets_no_search_that_its_question_cannot_pay(http, start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", TOKENS_PER_QUESTION="5000")
    marker = f"searching-{project.domain}"
    ask(http, service, project, context=fake("happy", marker))
    assert "tools" not in upstream.last(marker)


async def test_a_reader_who_leaves_while_tokens_are_reserved_gives_them_back(project, monkeypatch):
    def slowly(self: AnswerBudget, *tokens: int) -> str:
        time.sleep(0.3)
        return really(self, *tokens)

    really = AnswerBudget.reserve
    monkeypatch.setattr(AnswerBudget, "reserve", slowly)
    conversation = threads.UnstoredConversation(project.project)
    reserving = asyncio.create_task(conversation.reserve(Charge(3_000, 1_000), Charge(3_000)))
    await asyncio.sleep(0.05)
    reserving.cancel()
    await asyncio.wait([reserving])
    assert reserving.cancelled()
    await conversation.save(Outcome(state="aborted"))
    assert await TokenReservation.objects.filter(project=project.project).values_list("reserved_tokens").aget() == (0,)


async def test_without_the_database_no_model_is_asked(project, monkeypatch):
    def locked(*_: object) -> str:
        raise OperationalError("database is locked")

    monkeypatch.setattr(AnswerBudget, "reserve", locked)
    conversation = threads.UnstoredConversation(project.project)
    assert (
        await conversation.reserve(Charge(3_000, 1_000), Charge(3_000)) == "the budget of the project cannot be stored"
    )
