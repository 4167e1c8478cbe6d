"""The frame of the workspace: the navigation of a project, and who gets it."""

import re
from collections import Counter

import pytest
from django.http import HttpResponse

from docsite.core.tenants.models import Membership
from docsite.core.workspace import navigation


def entries(html: str) -> list[tuple[str, str, bool]]:
    """Address, label and whether it is the current page, of each link of the navigation beside the page."""
    nav = html.split('<nav class="workspace-nav"')[1].split("</nav>")[0]
    links = re.findall(r'<a href="([^"]+)"( aria-current="page")?>([^<]+)</a>', nav)
    return [(url, label, bool(current)) for url, current, label in links]


def unfolded(html: str) -> list[str]:
    """The names of the groups that are open."""
    nav = html.split('<nav class="workspace-nav"')[1].split("</nav>")[0]
    return re.findall(r"<details open><summary>([^<]+)</summary>", nav)


@pytest.mark.matrix
def test_every_page_opens_for_owner_and_teammate_and_is_marked_in_the_navigation(people, project):
    home = f"/admin/project/{project.domain}"
    shown = entries(people.owner.get(home).content.decode())
    assert shown[0] == (home, "Overview", True)
    groups = {page.label: page.group for page in navigation.all_pages()}
    assert [label for _, label, _ in shown] == list(groups)
    for client in (people.owner, people.teammate):
        for url, label, _ in shown:
            answer = client.get(url)
            assert answer.status_code == 200, url
            html = answer.content.decode()
            assert [name for _, name, current in entries(html) if current] == [label], url
            group = groups[label]
            assert unfolded(html) == ([group] if group else ["Readers", "Questions"]), url


def test_the_navigation_has_six_groups_which_fit_on_a_small_screen():
    groups = Counter(page.group for page in navigation.all_pages())
    assert list(groups) == ["", "Readers", "Questions", "Content", "Set-up", "Access", "Operation"]
    assert 1 + 6 + max(groups.values()) <= (768 - 56) // 36, "lines of 36 pixels below the header"


def test_every_page_has_a_place_of_its_own():
    places = [page.position for page in navigation.all_pages()]
    assert sorted(set(places)) == places


@pytest.mark.slow
def test_a_stranger_finds_no_page_of_the_project(people, project):
    for page in navigation.all_pages():
        answer = people.stranger.get(page.url(project.project))
        assert answer.status_code in (200, 302, 404), page.key  # 200: a list of their own rows
        assert "workspace-nav" not in answer.content.decode(), page.key
    assert people.stranger.get(f"/admin/project/{project.domain}").status_code == 404


def test_who_is_not_logged_in_is_asked_to(client, project):
    answer = client.get(f"/admin/project/{project.domain}")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/?next=")


def test_a_member_who_left_finds_nothing(people, project):
    Membership.objects.filter(organization=project.project.organization).delete()
    assert people.owner.get(f"/admin/project/{project.domain}").status_code == 404


def test_a_view_is_called_with_the_project_and_its_arguments(people, project, rf):
    called = []

    def view(request, found, number):
        called.append((found, number))
        return HttpResponse()

    wrapped = navigation._with_project(view)
    request = rf.get("/")
    request.user = people.owner.get("/admin/").wsgi_request.user
    request.session = {}
    assert wrapped(request, domain=project.domain, number=3).status_code == 200
    assert called == [(project.project, 3)]


def test_an_address_with_a_final_slash_leads_to_the_page(people, project):
    home = f"/admin/project/{project.domain}"
    for address in (home, f"{home}/gaps"):
        assert people.owner.get(f"{address}/?range=7d")["Location"] == f"{address}?range=7d"
    assert people.owner.get(f"{home}/nothing").status_code == 404, "not to a slash and back for ever"
