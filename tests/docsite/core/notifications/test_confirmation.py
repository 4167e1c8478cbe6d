"""An address gets nothing but a link until its owner has opened that."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import time_machine
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from docsite.core.delivery.models import Delivery
from docsite.core.notifications import confirmation, subscriptions
from docsite.core.notifications.models import Subscription


def page_of(project):
    return f"/admin/project/{project.domain}/notifications"


def link_in(letter):
    """The path of the link that confirms an address."""
    return re.search(r"/confirm-address/\S+", letter.get_content())[0]


def choose(people, project, email):
    """Choose the weekly digest for an address. Returns the subscription."""
    response = people.owner.post(page_of(project), {"email": email, "topics": "digest", "save": "1"})
    assert response.status_code == 302
    return Subscription.objects.get(project=project, email=email)


def test_an_address_gets_a_link_and_then_what_was_chosen(people, project, letters):
    project = project.project
    stored = choose(people, project, f"ada@{project.domain}.example")
    assert "is not confirmed yet" in people.owner.get(page_of(project)).content.decode()
    assert stored not in subscriptions.list_receivers("digest", project)
    (letter,) = letters(stored)
    browser = Client(enforce_csrf_checks=True)
    asked = browser.get(link_in(letter))
    assert "Shall" in asked.content.decode()
    assert asked["Referrer-Policy"] == "no-referrer"
    stored.refresh_from_db()
    assert not stored.is_confirmed, "scanners open links"
    assert "is confirmed" in browser.post(link_in(letter)).content.decode()
    assert subscriptions.list_receivers("digest", project) == [stored]
    assert "is not confirmed yet" not in people.owner.get(page_of(project)).content.decode()
    choose(people, project, stored.email)
    assert len(letters(stored)) == 1, "a confirmed address needs no other link"


def test_a_link_is_for_one_address_and_three_days(people, project, letters):
    project = project.project
    first = choose(people, project, f"first@{project.domain}.example")
    (letter,) = letters(first)
    choose(people, project, f"second@{project.domain}.example")
    assert Client().post(link_in(letter)).status_code == 404
    assert subscriptions.list_receivers("digest", project) == []
    late = urlsplit(confirmation.build_url(Subscription.objects.get(project=project))).path
    with time_machine.travel(timezone.now() + confirmation.LIFETIME * 2):
        assert Client().post(late).status_code == 404
    assert Client().post("/confirm-address/forged").status_code == 404


def test_a_person_sends_few_links_an_hour_whatever_the_address(people, project, letters):
    project = project.project
    stored = choose(people, project, f"ada@{project.domain}.example")
    assert "on its way" in people.owner.post(page_of(project), {"confirm": "1"}).content.decode()
    assert len(letters(stored)) == 2
    for number in range(confirmation.MAX_LINKS_PER_HOUR):
        choose(people, project, f"victim-{number}@{project.domain}.example")
    assert "Too many links" in people.owner.post(page_of(project), {"confirm": "1"}).content.decode()
    assert Delivery.objects.filter(project=project).count() == confirmation.MAX_LINKS_PER_HOUR
    refused = people.owner.post(page_of(project), {"test": "1"}).content.decode()
    assert "accepted" not in refused, "no digest to an address that is not confirmed"


def test_an_address_gets_few_links_an_hour_whoever_sends_them(people, project, make_project, monkeypatch):
    monkeypatch.setattr(confirmation, "CONFIRMATION_EMAIL", replace(confirmation.CONFIRMATION_EMAIL, rate="2/h"))
    victim = f"victim@{project.domain}.example"
    projects, owner = [project.project], get_user_model().objects.get(username=f"owner of {project.domain}")
    for _ in range(2):
        projects.append(make_project().project)
        projects[-1].organization.memberships.create(user=owner)
    for one in projects:
        choose(people, one, victim.upper() if one == projects[1] else victim)
    assert [Delivery.objects.filter(project=one).count() for one in projects] == [1, 1, 0]
    assert "Too many links" in people.owner.post(page_of(projects[2]), {"confirm": "1"}).content.decode()
    choose(people, projects[2], f"other@{project.domain}.example")
    assert Delivery.objects.filter(project=projects[2]).count() == 1
