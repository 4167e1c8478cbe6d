"""The page "Limits and health": its facts, and who sees it."""

import re
import time

import pytest

from assistant.models import Message, Thread, TokenReservation
from docsite.core.http import limit_use, ratelimit
from docsite.core.http.errors import TooMany
from docsite.core.http.ratelimit import Limit
from docsite.core.tenants.models import LimitUse
from docsite.core.workspace.health import sections
from docsite.core.workspace.health.sections import load_sections
from search.models import Source


def address(project):
    return f"/admin/project/{project.domain}/limits"


def facts(project):
    """The facts by section and label."""
    return {section.title: {fact.label: fact for fact in section.facts} for section in load_sections(project.project)}


def test_owner_and_teammate_see_the_page_and_a_stranger_does_not(people, project, client):
    for person in (people.owner, people.teammate):
        html = person.get(address(project)).content.decode()
        for title in ("Limits", "Refused requests", "Budget", "Answers", "Model", "Index", "Sources", "Page views"):
            assert f"<h2>{title}</h2>" in html
        assert "could not be read" not in html
    assert people.stranger.get(address(project)).status_code == 404
    assert client.get(address(project)).status_code == 302


def test_each_limit_stands_once_under_a_name_of_its_own(project):
    (limits,) = (section.facts for section in load_sections(project.project) if section.title == "Limits")
    assert len(limits) == len({fact.label for fact in limits}) == len(ratelimit.all_limits)


def test_uses_and_refusals_of_an_organization_are_recorded_without_addresses(people, project, make_project):
    organization = project.project.organization_id
    limit = ratelimit.all_limits["new-keys"]
    count = limit.window()[0]
    for _ in range(count):
        ratelimit.spend((limit, str(organization)))
    with pytest.raises(TooMany):
        ratelimit.spend((limit, str(organization)))
    limit_use.flush()
    row = LimitUse.objects.get(organization_id=organization)
    assert (row.limit_name, row.most, row.refused) == ("new-keys", count, 1)
    fact = facts(project)["Limits"]["Keys that an organization may create in the admin"]
    assert (fact.value, fact.state) == (f"{count} of {count} in an hour", "bad")
    assert f"at most {count} in the last week" in fact.note
    assert "1 refused" in people.owner.get(address(project)).content.decode()
    other = load_sections(make_project().project)
    assert not any(
        "Keys" in fact.label for section in other if section.title == "Refused requests" for fact in section.facts
    )


def test_a_limit_by_address_counts_for_the_organization_that_was_asked(project):
    by_address = Limit("test-ip", "limit_search_ip")
    try:
        by_organization = ratelimit.all_limits["analytics"]
        organization = project.project.organization_id
        ratelimit.spend((by_address, "203.0.113.77"), (by_organization, str(organization)))
        limit_use.flush()
        ratelimit.spend((by_address, "203.0.113.77"), (by_organization, str(organization)))
        limit_use.flush()
        uses = LimitUse.objects.filter(organization_id=organization)
        assert dict(uses.values_list("limit_name", "most")) == {"test-ip": 2, "analytics": 2}
    finally:
        del ratelimit.all_limits["test-ip"]


def test_old_uses_are_deleted(project):
    LimitUse.objects.create(limit_name="old", organization_id=1, hour=1, most=1)
    limit_use.note("new-keys", project.project.organization_id, 1, refused=False)
    limit_use.flush()
    assert not LimitUse.objects.filter(limit_name="old").exists()


def test_the_facts_of_the_apps(project):
    thread = Thread.objects.create(project=project.project, fp="x")
    common = {"project": project.project, "thread": thread, "role": "assistant"}
    Message.objects.create(outcome="running", state="running", **common)
    Message.objects.create(outcome="answered", rung="extractive", reason="the model server did not answer", **common)
    Source.objects.create(project=project.project, name="guide", location="/x", state="failed", error="secret words")
    found = facts(project)
    assert found["Answers"]["Running answers"].value == "1"
    assert found["Model"]["Last answer"].value == "Quotes"
    assert "the model server did not answer" in found["Model"]["Not answered by the model"].note
    assert (found["Sources"]["guide"].value, found["Sources"]["guide"].state) == ("failed", "bad")
    assert found["Index"]["Pages"].value == "4"
    assert found["Index"]["Rules of the index"].state == "good"
    assert found["Page views"]["Views to be counted"].value == "0"
    assert re.match(r"SQLite|PostgreSQL", found["Service"]["Database"].value)


def test_reservations_count_against_the_budget(project):
    from django.utils import timezone

    TokenReservation.objects.create(
        project=project.project, day=timezone.now().date(), reserved_tokens=1234, reserved_cost=0, used_tokens=0,
        used_cost=0, expires_at=timezone.now(),
    )  # fmt: skip
    assert facts(project)["Budget"]["Daily token limit"].note == "1,234 reserved"


def test_a_section_that_fails_does_not_hide_the_others(people, project, monkeypatch):
    def fail(project):
        raise RuntimeError

    monkeypatch.setattr(sections, "_sections", [(1, "Broken", fail), *sections._sections])
    html = people.owner.get(address(project)).content.decode()
    assert "could not be read" in html
    assert "<h2>Limits</h2>" in html


def test_a_limit_of_a_day_shows_the_use_of_a_day(project):
    (limit,) = (limit for limit in ratelimit.all_limits.values() if limit.rate == "limit_assistant_ip")
    hours_ago = int(time.time()) // 3600 - 3
    organization = project.project.organization_id
    LimitUse.objects.create(limit_name=limit.name, organization_id=organization, hour=hours_ago, most=7)
    notes = {fact.note: fact.value for fact in facts(project)["Limits"].values()}
    assert re.fullmatch("7 of .* in a day", notes["by one caller; at most 7 in the last week"])
