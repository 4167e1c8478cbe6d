"""The page of the audit: its filters, its files, and who sees it."""

import csv
import io
import json

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.test import Client

from docsite.core.tenants.models import Membership


@pytest.fixture
def page(project):
    return f"/admin/project/{project.domain}/audit"


@async_to_sync
async def body(answer) -> str:
    return b"".join([chunk async for chunk in answer.streaming_content]).decode()


@pytest.mark.slow
def test_owners_search_the_entries_of_their_organization(people, page, project):
    people.owner.post(f"/admin/projects/project/of/{project.domain}", {"kind": "assistant", "name": "New"})
    owner = f"owner of {project.domain}"
    shown = people.owner.get(page, {"actor": owner, "action": "api key created"})
    assert [(entry.actor, entry.network) for entry, *_ in shown.context["rows"]] == [(owner, "127.0.0.1")]
    assert not people.owner.get(page, {"before": "2020-01-01"}).context["rows"]
    assert people.owner.get(page, {"after": "2020-01-01"}).context["rows"]
    assert people.owner.get(page, {"after": "yesterday"}).status_code == 400
    assert people.owner.get(page, {"before": "9999-12-31", "older": "x"}).status_code == 200
    assert people.stranger.get(page).status_code == 404
    assert f"stranger of {project.domain}" not in shown.content.decode()


def test_a_download_is_named_by_its_page(people, page):
    people.owner.get(page.replace("/audit", "/synonyms/synonyms.txt"))
    entry, subject, _ = people.owner.get(page, {"action": "downloaded"}).context["rows"][0]
    assert (entry.object, subject) == ("workspace_synonyms_file", "Synonyms (file)")


def test_the_files_hold_the_entries_that_pass(people, page, project):
    colleague = get_user_model().objects.create(username=f"colleague of {project.domain}")
    project.project.organization.memberships.create(user=colleague)
    lines = body(people.owner.get(f"{page}/file.jsonl", {"action": "project created"})).splitlines()
    assert [json.loads(line)["object"] for line in lines] == [project.domain]
    assert len(json.loads(lines[0])["digest"]) == 64
    rows = list(csv.DictReader(io.StringIO(body(people.owner.get(f"{page}/file.csv")))))
    assert [int(row["position"]) for row in rows] == list(range(1, len(rows) + 1))
    assert json.loads(next(row for row in rows if row["action"] == "membership created")["details"])["role"] == "owner"
    assert people.owner.get(f"{page}/file.xml").status_code == 404


@pytest.mark.matrix
def test_older_entries_follow_on_the_next_page(people, page, project):
    busy = get_user_model().objects.create(username=f"busy {project.project.pk}")
    project.project.organization.memberships.create(user=busy)
    for _ in range(101):
        Client().force_login(busy)
    first = people.owner.get(page, {"action": "logged in"})
    second = people.owner.get(page + first.context["older"])
    seen = [entry.pk for shown in (first, second) for entry, *_ in shown.context["rows"]]
    assert len(seen) == 101
    assert seen == sorted(set(seen), reverse=True)


def test_writers_do_not_see_it(people, page, project):
    Membership.objects.filter(user__username=f"teammate of {project.domain}").update(role="writer")
    assert people.teammate.get(page).status_code == 403
    assert people.teammate.get("/admin/privacy/auditentry/").status_code == 403
