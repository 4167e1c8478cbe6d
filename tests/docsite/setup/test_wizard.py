"""The wizard for a new project: each step for an owner and a stranger, with its mistakes."""

import re
from collections.abc import Iterator

import pytest
from django.utils import timezone

from docsite.core.tenants.models import ApiKey, Organization, Project
from docsite.setup.drafts import propose_domain
from search.models import SearchQuery, Source
from search.sources.detection import detect
from search.sources.request import SourceRequest
from search.stored_sources import queue, runs
from tests.conftest import logged_in
from tests.docsite.setup.small_site import serve_site

START = "/admin/new-project/"


@pytest.fixture
def site(settings) -> Iterator[str]:
    with serve_site() as address:
        host = address.removeprefix("http://")
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": (host,)})
        yield address


@pytest.fixture
def superuser():
    return logged_in("superuser-of-the-wizard", is_superuser=True)


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "repository"
    (folder / "docs").mkdir(parents=True)
    for name in ("index", "install", "feed"):
        (folder / "docs" / f"{name}.md").write_text(f"# Page {name}\n\nThis is what you do with the heron.\n")
    (folder / "mkdocs.yml").write_text("site_name: Heron\nuse_directory_urls: false\n")
    return folder


def errors(answer):
    """The sentences beside fields, by the name of the field."""
    html = answer.content.decode()
    rows = re.findall(r'<div class="form-row errors">(.*?)</div>', html, re.DOTALL)
    return {re.search(r'name="(\w+)"', row)[1]: re.findall(r"<li>(.*?)</li>", row) for row in rows}


def test_a_site_is_detected_with_five_addresses_of_which_each_was_opened(site, superuser):
    answer = superuser.post(START, {"location": site})
    assert answer.status_code == 302
    shown = superuser.get(answer.headers["Location"]).content.decode()
    assert "a published site, whose pages are opened one by one" in shown
    assert re.search(r"<dt>Pages</dt><dd>5</dd>", shown)
    assert re.search(r"<dt>Language</dt><dd>en</dd>", shown)
    assert shown.count('class="badge done">yes') == 4
    assert re.search(r"/gone</a></th>\s*<td>–</td>\s*<td><span class=\"badge failed\">no</span> answers 404", shown)
    assert f'name="docs_url" value="{site}"' in shown


@pytest.mark.slow
def test_a_site_without_a_sitemap_says_that_there_may_be_more(settings):
    with serve_site(has_sitemap=False) as address:
        hosts = (address.removeprefix("http://"),)
        found = detect(SourceRequest(address, "", private_hosts=hosts))
    assert (found.pages, found.has_more, found.base_url, found.name) == (5, True, address, "Heron handbook")


@pytest.mark.matrix
def test_a_folder_is_checked_once_its_base_address_is_known(site, superuser, docs):
    check = superuser.post(START, {"location": str(docs)}).headers["Location"]
    shown = superuser.get(check).content.decode()
    assert "the files of a site that mkdocs makes" in shown
    assert "The addresses were not opened" in shown
    assert errors(superuser.post(check, {"docs_url": ""})) == {"docs_url": ["This field is required."]}
    again = superuser.post(check, {"docs_url": site, "language": "en", "generator": ""})
    assert again.headers["Location"] == check
    shown = superuser.get(check).content.decode()
    assert f"{site}/install.html" in shown
    assert "2 of 3 addresses cannot be read" in shown
    superuser.post(check, {"docs_url": site, "language": "en", "generator": "plain"})
    shown = superuser.get(check).content.decode()
    assert f">{site}/docs/install</a>" in shown


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("", "This field is required."),
        ("/etc", "Write an address that begins with https://."),
        ("ftp://x.example", "Write an address that begins with https://."),
        ("https://me:secret@x.example", "Write an address with its host, and without a user name."),
        ("http://127.0.0.1:9/", "127.0.0.1, which is no public address"),
    ],
)
def test_an_owner_names_public_addresses_only(people, location, says):
    (sentences,) = errors(people.owner.post(START, {"location": location})).values()
    assert says in sentences[0]


def test_a_host_alone_is_a_base_address(superuser, docs):
    check = superuser.post(START, {"location": str(docs)}).headers["Location"]
    field = re.search(r"<input[^>]*name=\"docs_url\"[^>]*>", superuser.get(check).content.decode())[0]
    assert 'type="text"' in field, "browsers refuse a host alone in a field for addresses"
    superuser.post(check, {"docs_url": "docs.heron.invalid", "language": "en", "generator": ""})
    assert 'value="https://docs.heron.invalid"' in superuser.get(check).content.decode()


def test_a_name_at_the_start_of_a_mistake_stays_as_it_is():
    assert runs.as_sentence(ValueError("mkdocs.yml is too large")) == "mkdocs.yml is too large."
    assert runs.as_sentence(ValueError("docs.acme.example answers 404.")) == "docs.acme.example answers 404."
    assert runs.as_sentence(ValueError("nothing can be read")) == "Nothing can be read."
    assert runs.as_sentence(OSError()) == "It cannot be read."


def test_a_folder_is_named_by_its_configuration(docs):
    assert detect(SourceRequest(str(docs), "")).name == "Heron"


def test_hosts_that_are_not_public_are_for_superusers(site, people):
    answer = people.owner.post(START, {"location": site})
    assert errors(answer) == {"location": ["This host is not public. Only superusers may add it."]}


def test_a_path_that_does_not_exist_is_reported(superuser):
    assert "absolute path" in errors(superuser.post(START, {"location": "/no/such/folder"}))["location"][0]


def draft(client, **facts):
    """A site that was looked at, in the session of a user. Returns the address of its second step."""
    found = {"generator": "", "pages": 4, "has_more": False, "language": "en", "name": "Heron", "samples": []}
    site = {"location": "https://docs.heron.example/", "generator": "", "docs_url": "https://docs.heron.example"}
    session = client.session
    session["new_projects"] = {"abc": {**site, "language": "en", "domain": "", "found": found, **facts}}
    session.save()
    return f"{START}abc/project"


def fields(project, **changes):
    values = {"name": "Heron", "domain": f"heron-{project.domain}", "organization": project.project.organization_id}
    return {**values, "allowed_origins": "", **changes}


def test_an_owner_creates_a_project_in_their_organization(people, project):
    name = draft(people.owner)
    shown = people.owner.get(name).content.decode()
    assert 'name="name" value="Heron"' in shown
    assert re.search(r'name="domain" value="heron(-\d+)?"', shown)
    assert "Pages of <code>https://docs.heron.example</code> may use the widget." in shown
    assert "new_organization" not in shown
    assert f'<option value="{project.project.organization_id}" selected>' in shown
    answer = people.owner.post(name, fields(project, allowed_origins="http://localhost:3000/x\nApp.heron.example"))
    created = Project.objects.get(domain=f"heron-{project.domain}")
    assert answer.headers["Location"] == f"/admin/project/{created.domain}/install/pages"
    assert created.organization == project.project.organization
    assert created.allowed_origins == ["http://localhost:3000", "https://app.heron.example"]
    source = created.sources.get()
    assert (source.name, source.location, source.language) == ("docs", "https://docs.heron.example/", "en")
    assert source.state in ("queued", "running"), "a service of another test may be faster"
    created.sources.update(due_at=None)  # no other test reads it
    assert people.owner.get(name).headers["Location"] == answer.headers["Location"], "resumed at its next step"
    assert people.stranger.get(answer.headers["Location"]).status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"domain": "Heron!"}, "domain"),
        ({"name": ""}, "name"),
        ({"allowed_origins": "not an origin:x"}, "allowed_origins"),
        ({"organization": ""}, "organization"),
    ],
)
def test_a_mistake_names_its_field(people, project, changes, field):
    before = Project.objects.count()
    assert list(errors(people.owner.post(draft(people.owner), fields(project, **changes)))) == [field]
    assert Project.objects.count() == before


def test_nobody_adds_a_project_to_an_organization_of_others(people, project):
    answer = people.stranger.post(draft(people.stranger), fields(project))
    assert list(errors(answer)) == ["organization"]


@pytest.mark.stores
def test_a_superuser_may_create_the_organization(superuser, project):
    name = f"Herons {project.domain}"
    Organization.objects.create(name=f"Without projects {project.domain}")
    newest = Project.objects.latest("created_at").organization_id
    assert f'<option value="{newest}" selected>' in superuser.get(draft(superuser)).content.decode()
    values = fields(project, organization="", new_organization=name)
    assert superuser.post(draft(superuser), values).status_code == 302
    created = Project.objects.get(domain=values["domain"])
    assert created.organization.name == name
    created.sources.update(due_at=None)
    answer = superuser.post(draft(superuser), {**values, "domain": f"{created.domain}-2"})
    assert list(errors(answer)) == ["new_organization"]
    assert Organization.objects.filter(name=name).count() == 1


def test_a_draft_is_that_of_its_user(people):
    draft(people.owner)
    assert people.owner.get(f"{START}abc/").status_code == 200
    assert people.stranger.get(f"{START}abc/").status_code == 404
    assert people.stranger.get(f"{START}abc/project").status_code == 404
    assert "https://docs.heron.example/</a>" in people.owner.get(START).content.decode()


def test_who_belongs_to_no_organization_is_told_so(client):
    nobody = logged_in("nobody-of-the-wizard")
    assert "You belong to no organization yet" in nobody.get(START).content.decode()
    assert client.get(START).status_code == 302


def test_the_pages_are_read_with_their_progress(people, project, tmp_path):
    source = Source.objects.create(project=project.project, name="docs", location=str(tmp_path), state="queued")
    page = f"/admin/project/{project.domain}/install/pages"
    for client in (people.owner, people.teammate):
        assert "Waiting" in client.get(page).content.decode()
        assert "data-active" in client.get(page).content.decode()
    (tmp_path / "one.md").write_text("# One\n\nText.\n")
    queue.take_over(source)
    runs.run(source)
    shown = people.owner.get(page).content.decode()
    assert "data-active" not in shown
    assert "1 added" in shown
    assert people.stranger.get(page).status_code == 404


def test_the_tag_has_the_real_key_and_says_what_has_arrived(people, project):
    page = f"/admin/project/{project.domain}/install"
    shown = people.owner.get(page).content.decode()
    assert f"data-domain=&quot;{project.domain}&quot;" in shown or f'data-domain="{project.domain}"' in shown
    assert project.assistant_key in shown
    assert shown.count('class="badge queued">waiting') == 3
    state = people.owner.get(f"{page}/state").json()
    assert (state["isActive"], state["state"]) == (True, "Waiting for the first question, search and view.")
    SearchQuery.objects.create(project=project.project, text="sample", at=timezone.now(), sample=True)
    assert people.owner.get(f"{page}/state").json()["state"] == "Waiting for the first question, search and view."
    SearchQuery.objects.create(project=project.project, text="heron", at=timezone.now())
    state = people.teammate.get(f"{page}/state").json()
    assert state["state"] == "Received: search."
    assert state["html"].count("received") == 1
    for address in (page, f"{page}/state"):
        assert people.stranger.get(address).status_code == 404
    for key in ApiKey.objects.filter(project=project.project):
        key.revoke()
    assert "Create an assistant key" in people.owner.get(page).content.decode()


def test_the_start_page_leads_to_the_wizard(people, admin_client):
    assert f'href="{START}"' in people.owner.get("/admin/").content.decode()
    shown = admin_client.get("/admin/").content.decode()
    assert f'href="{START}"' in shown
    assert "/admin/projects/project/add/" in admin_client.get("/admin/records").content.decode()


def test_a_domain_is_proposed_from_the_host(make_project):
    assert propose_domain("https://docs.zebrafish-lab.example") == "zebrafish-lab"
    assert propose_domain("https://www.stork.co/docs") == "stork"
    assert re.fullmatch(r"docs(-\d+)?", propose_domain("http://127.0.0.1:8000"))  # others may have tried a site
    taken = make_project().project
    assert propose_domain(f"https://{taken.domain}.example") == f"{taken.domain}-2"
