"""Single sign-on with a real provider: the way there and back, refused tokens, accounts, and roles by groups."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.contrib.auth import get_user_model

from docsite.core.sign_on import groups as sign_on_groups
from docsite.core.sign_on.groups import find_roles
from docsite.core.sign_on.models import GroupRole, Identity
from docsite.core.tenants.models import Membership
from docsite.extras.openid_connect import claims as claims_of
from docsite.extras.openid_connect import components, doctor, protocol
from docsite.extras.openid_connect.settings import OpenIdSettings, read
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.docsite.core.sign_on.conftest import new_browser
from tests.oidc_provider import FAULTS, SECRET
from tests.variants import first_of

pytestmark = pytest.mark.slow

PASSWORD = "correct-horse-battery"


@pytest.fixture
def ada(provider, project):
    """A person whose group writes in the organization of the project."""
    GroupRole.objects.create(organization=project.project.organization, group=f"docs-{project.domain}", role="writer")
    provider.set_claims(f"ada-{project.domain}", preferred_username="Ada", groups=[f"docs-{project.domain}", "all"])
    return f"ada-{project.domain}"


def change(settings, **values):
    own = read().model_copy(update=values)
    settings.EXTRAS = {**settings.EXTRAS, OpenIdSettings: own}
    return own


def membership(subject, project):
    return Membership.objects.filter(
        user__identities__subject=subject, organization=project.project.organization
    ).first()


def test_the_request_to_the_provider_is_bound_to_the_browser(provider):
    start = new_browser().get("/admin/login/single-sign-on")
    address = urlsplit(start["Location"])
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert f"{address.scheme}://{address.netloc}" == provider.url
    assert query["code_challenge_method"] == "S256"
    assert min(len(query[name]) for name in ("state", "nonce", "code_challenge")) >= 20
    assert query["redirect_uri"] == "http://testserver/admin/login/single-sign-on/callback"
    assert SECRET not in start["Location"]


def test_a_new_person_gets_an_account_with_the_role_of_the_group(provider, ada, project):
    page = f"/admin/project/{project.domain}/people"
    browser, response = provider.log_in(ada, after=page)
    assert response["Location"] == page
    assert "by group" in browser.get(page).content.decode()
    member = membership(ada, project)
    assert (member.role, member.is_from_groups) == ("writer", True)
    assert not member.user.has_usable_password()
    assert browser.session.get_expiry_age() <= 12 * 3600
    browser, _ = provider.log_in(ada)
    assert Identity.objects.filter(subject=ada).count() == 1
    browser.post("/admin/logout/")
    trail = AuditEntry.objects.filter(organization_id=project.project.organization_id, object=member.user.username)
    assert {row.action: row.details for row in trail} == {"logged in": {"by": "single sign-on"}, "logged out": {}}


def test_the_session_gets_a_new_key(provider, ada):
    browser = new_browser()
    start = browser.get("/admin/login/single-sign-on")
    before = browser.session.session_key
    browser.get(provider.authorize(start["Location"], ada))
    assert browser.session.session_key != before


def test_a_role_follows_the_groups_at_each_log_in(provider, ada, project):
    organization, group = project.project.organization, f"docs-{project.domain}"
    logged_in(f"owner of {project.domain}", organization)
    provider.log_in(ada)
    GroupRole.objects.create(organization=organization, group="all", role="owner")
    provider.log_in(ada)
    assert membership(ada, project).role == "owner"
    provider.set_claims(ada, groups=[group])
    provider.log_in(ada)
    assert membership(ada, project).role == "writer"
    provider.set_claims(ada)
    browser, _ = provider.log_in(ada)
    assert membership(ada, project) is None
    assert browser.get(f"/admin/project/{project.domain}/people").status_code == 404


OVERAGE = {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph.example/"}}}
LISTED = [{}, {"groups": []}, {**OVERAGE, "groups": []}, {"groups": None}, {"hasgroups": False}]


@pytest.mark.parametrize(
    ("claims", "named"), first_of([(OVERAGE, "_claim_names.groups"), ({"hasgroups": True}, "hasgroups")], 1)
)
def test_groups_that_are_not_listed_take_no_role(provider, ada, project, caplog, claims, named):
    logged_in(f"owner of {project.domain}", project.project.organization)
    page = f"/admin/project/{project.domain}/people"
    first, _ = provider.log_in(ada)
    provider.set_claims(ada, **claims)
    second, _ = provider.log_in(ada)
    assert membership(ada, project).role == "writer"
    assert [browser.get(page).status_code for browser in (first, second)] == [200, 200]
    entries = AuditEntry.objects.filter(organization_id=project.project.organization_id, action="roles by group kept")
    assert [entry.details for entry in entries] == [{"claim": named}]
    assert named in caplog.text
    provider.set_claims(ada, groups=[])
    provider.log_in(ada)
    assert membership(ada, project) is None, "an empty list is known"
    provider.set_claims(f"new-{ada}", **claims)
    refused = provider.log_in(f"new-{ada}")[1]
    assert (refused.status_code, f"does not list your groups ({named})" in refused.content.decode()) == (403, True)


@pytest.mark.parametrize(
    ("configured", "claims", "overage"),
    [
        *(("groups", claims, "") for claims in LISTED),
        ("groups", {"_claim_names": {"address": "src1"}}, ""),
        ("groups", {"_claim_names": ["groups"]}, ""),
        ("groups", {"hasgroups": "true"}, "hasgroups"),
        ("roles", {"hasgroups": True}, ""),
        ("roles", OVERAGE, ""),
        ("roles", {"_claim_names": {"roles": "src1"}}, "_claim_names.roles"),
    ],
)
def test_only_a_claim_that_says_so_makes_groups_unknown(settings, configured, claims, overage):
    change(settings, oidc_group_claim=configured)
    assert claims_of.find_overage(claims, configured) == overage
    assert claims_of.read_groups(claims_of.find_claim(claims, configured)) == []


MANY = [f"group-{number:05}" for number in range(12_000)]


@pytest.mark.parametrize(
    ("path", "claims", "groups"),
    [
        ("groups", {"groups": "admins"}, ["admins"]),
        ("realm_access.roles", {"realm_access": {"roles": ["b", "a"]}}, ["a", "b"]),
        ("resource_access.my.docs.roles", {"resource_access": {"my.docs": {"roles": ["a"]}}}, ["a"]),
        ("https://acme.example/groups", {"https://acme.example/groups": ["a"]}, ["a"]),
        ("a.b.c", {"a": {"b": "no object"}, "a.b": {"c": ["deep"]}}, ["deep"]),
        ("a.b.c", {"a.b": 7, "a": {"b": {"c": ["deep"]}}}, ["deep"]),
        ("roles", {"roles": {"writer": {"1": "acme.example"}, "reader": {}}}, ["reader", "writer"]),
        ("groups", {"groups": [{"id": "7", "name": "a"}, {"value": "b"}, {"other": 1}, None, ""]}, ["a", "b"]),
        ("groups", {"groups": [*MANY, *MANY]}, MANY),
        ("realm_access.roles", {"realm_access": {"groups": ["a"]}}, []),
        ("realm_access.roles", {"realm_access": None, "roles": ["a"]}, []),
    ],
)
def test_groups_are_read_however_a_provider_writes_them(path, claims, groups):
    assert claims_of.read_groups(claims_of.find_claim(claims, path)) == groups


@pytest.mark.parametrize(
    ("given", "group", "is_same"),
    [("/admins", "admins", True), ("admins", "/admins", True), ("/team/admins", "team/admins", True),
     ("/team/admins", "admins", False), ("Admins", "admins", False)],
)  # fmt: skip
def test_a_slash_before_a_group_does_not_matter(project, given, group, is_same):
    own, organization = f"-{project.domain}", project.project.organization
    GroupRole.objects.create(organization=organization, group=group + own, role="viewer")
    found = find_roles([*MANY, given + own])
    assert found.get(organization.pk) == ("viewer" if is_same else None)


@pytest.mark.parametrize(
    ("kind", "claims", "status", "logged"),
    first_of(
        [
            ("json", {}, 302, ""),
            ("signed", {}, 302, ""),
            ("signed", {"hasgroups": True}, 302, ""),  # of the ID token: resolved by user info
            ("forged", {}, 403, "BadSignatureError"),
            ("other-client", {}, 403, "aud"),
            ("encrypted", {}, 503, "the user info is encrypted"),
            ("away", {}, 503, "/userinfo: it answers 503"),
        ],
        1,
    ),
)
def test_groups_come_from_user_info_too(provider, project, settings, caplog, kind, claims, status, logged):
    change(settings, oidc_group_claim="realm_access.roles" if not claims else "groups")
    GroupRole.objects.create(organization=project.project.organization, group=f"docs-{project.domain}", role="writer")
    groups = [*MANY[:1500], f"/docs-{project.domain}"]
    subject = f"{kind}:{project.domain}"
    provider.set_claims(subject, groups=groups, realm_access={"roles": groups}, **claims)
    _, response = provider.log_in(subject)
    assert response.status_code == status, response.content.decode()
    assert logged in caplog.text
    assert bool(membership(subject, project)) == (status == 302)


@pytest.mark.parametrize(
    ("claims", "logged"),
    first_of(
        [
            ({"realm_access": {"roles": ["a"]}}, "the claim groups (OIDC_GROUP_CLAIM) is not among those that came: "),
            ({"realm_access": {"roles": ["a"]}}, "realm_access.roles"),
            ({"groups": ["a", "b"]}, "none of the person's 2 groups has a role: a, b"),
            ({"groups": []}, "the provider lists no group"),
        ],
        1,
    ),
)
def test_the_log_names_the_claim_or_the_groups_that_give_no_role(provider, project, caplog, claims, logged):
    subject = f"nobody-{project.domain}"
    provider.set_claims(subject, **claims)
    assert provider.log_in(subject)[1].status_code == 403
    assert logged in caplog.text


def test_the_last_owner_stays_whatever_the_groups_say(provider, ada, project):
    GroupRole.objects.filter(group=f"docs-{project.domain}").update(role="owner")
    provider.log_in(ada)
    provider.set_claims(ada, groups=[])
    provider.log_in(ada)
    assert membership(ada, project).role == "owner"


def test_a_role_given_by_hand_stays(provider, ada, project):
    _, response = provider.log_in(ada)
    assert response.status_code == 302
    Membership.objects.filter(pk=membership(ada, project).pk).update(is_from_groups=False, role="viewer")
    provider.log_in(ada)
    assert membership(ada, project).role == "viewer"
    provider.set_claims(ada, groups=[])
    provider.log_in(ada)
    assert membership(ada, project).role == "viewer"


def test_people_without_a_role_get_no_account(provider, project):
    subject = f"stranger-{project.domain}"
    provider.set_claims(subject, groups=["somebody", 7, None])
    browser, response = provider.log_in(subject)
    assert response.status_code == 403
    assert "You have no access here" in response.content.decode()
    assert not Identity.objects.filter(subject=subject).exists()
    assert "_auth_user_id" not in browser.session


def test_an_account_without_a_password_stays_connected(provider, ada):
    browser, _ = provider.log_in(ada)
    browser.post("/admin/account/log-in", {"disconnect": "1"})
    assert Identity.objects.filter(subject=ada).exists(), "nothing else opens it"


def test_who_begins_single_sign_on_and_then_takes_a_password_stays_logged_in(provider, people, project):
    html = people.owner.post(f"/admin/project/{project.domain}/people", {"invite": "1", "role": "viewer"})
    link = "/invitations/" + html.content.decode().partition("/invitations/")[2].partition("<")[0]
    browser, name = new_browser(), f"undecided-{project.project.pk}"
    browser.get("/admin/login/single-sign-on")
    assert browser.session.get_expiry_age() <= 600
    browser.post(link, {"username": name, "password1": "a heron eats at dawn", "password2": "a heron eats at dawn"})
    assert browser.session.get_expiry_age() > 86_400


def test_an_invitation_makes_an_account_for_a_person_without_a_group(provider, people, project):
    page = f"/admin/project/{project.domain}/people"
    html = people.owner.post(page, {"invite": "1", "role": "viewer"}).content.decode()
    link = "/invitations/" + html.partition("/invitations/")[2].partition("<")[0]
    assert "Log in with Example ID" in new_browser().get(link).content.decode()
    subject = f"invited-{project.domain}"
    browser, response = provider.log_in(subject, after=link)
    assert response["Location"] == link
    browser.post(link)
    provider.log_in(subject)
    assert membership(subject, project).role == "viewer"


@pytest.mark.parametrize("fault", first_of(FAULTS, 3))
def test_a_token_with_a_fault_opens_nothing(provider, ada, project, fault):
    subject = f"{fault}:{project.domain}"
    provider.set_claims(subject, groups=[f"docs-{project.domain}"])
    browser, response = provider.log_in(subject)
    assert response.status_code == 403
    assert "not valid for this service" in response.content.decode()
    assert "_auth_user_id" not in browser.session
    assert not Identity.objects.filter(subject=subject).exists()


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(provider, ada):
    browser = new_browser()
    back = provider.authorize(browser.get("/admin/login/single-sign-on")["Location"], ada)
    entries = AuditEntry.objects.filter(action="log-in failed").count()
    for other in (new_browser(), new_browser()):
        assert other.get(back).status_code == 400
    assert browser.get(back.replace("state=", "state=x")).status_code == 400
    assert browser.get("/admin/login/single-sign-on/callback").status_code == 400
    assert AuditEntry.objects.filter(action="log-in failed").count() == entries, "anybody can send these"
    assert browser.get(back).status_code == 302
    assert browser.get(back).status_code == 400


def test_who_is_refused_by_the_provider_may_try_again(provider, caplog):
    _, response = provider.log_in("")
    assert response.status_code == 403
    assert "Example ID refused the log-in." in response.content.decode()
    assert "Single sign-on failed: OAuthError: access_denied" in caplog.text
    assert AuditEntry.objects.filter(action="log-in failed").first().details == {"by": "single sign-on"}


@pytest.mark.parametrize(
    "after", first_of(["https://attacker.example/", "//attacker.example", "javascript:alert(1)", "\\\\x.example"], 1)
)
def test_nobody_is_led_elsewhere_after_the_log_in(provider, ada, after):
    assert provider.log_in(ada, after=after)[1]["Location"] == "/admin/"
    page = new_browser().get("/admin/login/", {"next": after}).content.decode()
    assert 'href="/admin/login/single-sign-on?next=%2Fadmin%2F"' in page


def test_a_name_or_an_address_of_another_never_opens_the_account(provider, ada, project):
    boss = get_user_model().objects.create_superuser(f"boss-{project.domain}", "boss@acme.example", "a heron eats")
    provider.set_claims(
        ada,
        preferred_username=boss.username,
        email="boss@acme.example",
        email_verified=True,
        groups=[f"docs-{project.domain}"],
    )
    provider.log_in(ada)
    user = membership(ada, project).user
    assert (user.username, user.is_superuser) == (f"boss-{project.domain}-2", False)


def test_superusers_and_switched_off_accounts_stay_out(provider, ada, project):
    provider.log_in(ada)
    user = membership(ada, project).user
    get_user_model().objects.filter(pk=user.pk).update(is_superuser=True)
    browser, response = provider.log_in(ada)
    assert response.status_code == 403
    assert "Superusers log in with a password" in response.content.decode()
    get_user_model().objects.filter(pk=user.pk).update(is_superuser=False, is_active=False)
    browser, response = provider.log_in(ada)
    assert response.status_code == 403
    assert "_auth_user_id" not in browser.session


@pytest.mark.matrix
def test_an_account_with_a_password_is_connected_by_its_owner_only(provider, people, project):
    subject = f"teammate-{project.domain}"
    user = get_user_model().objects.get(username=f"teammate of {project.domain}")
    user.set_password(PASSWORD)
    user.save()
    people.teammate.force_login(user)
    _, response = provider.log_in(subject, people.teammate)
    page = response["Location"]
    assert page == "/admin/login/single-sign-on/connect"
    proof = people.teammate.get(page)["Location"]
    assert people.teammate.post(page)["Location"] == proof
    assert not Identity.objects.filter(subject=subject).exists(), "an open session alone gives nobody a way in for good"
    assert people.teammate.post(proof, {"password": PASSWORD})["Location"] == page
    assert f"teammate of {project.domain}" in people.teammate.get(page).content.decode()
    assert not Identity.objects.filter(subject=subject).exists()
    assert people.teammate.post(page)["Location"] == "/admin/"
    assert membership(subject, project).user.username == f"teammate of {project.domain}"
    browser, response = provider.log_in(subject)
    assert browser.get(f"/admin/project/{project.domain}/people").status_code == 200
    _, response = provider.log_in(f"{subject}-2", people.teammate)
    again = people.teammate.post(response["Location"])
    assert again.status_code == 409, "an account has one person"
    end = people.teammate.session.get_expiry_date()
    people.teammate.post("/admin/login/", {"username": "teammate", "password": "wrong"})
    assert people.teammate.session["log_in_method"] == "single sign-on"
    assert people.teammate.session.get_expiry_date() == end, "the use of a session does not renew it"
    people.teammate.post("/admin/account/log-in", {"disconnect": "1"})
    assert not Identity.objects.filter(subject=subject).exists()
    assert "_auth_user_id" not in people.teammate.session, "it has shown no password"
    assert provider.log_in(subject)[1].status_code == 403
    other = new_browser().post("/admin/login/single-sign-on/connect")
    assert other["Location"] == "/admin/"


def test_a_password_alone_connects_no_account_to_open_more(provider, people, project):
    """Else whoever knows a member's password could connect an identity of his own, and get in with it."""
    subject, organization = f"thief-{project.domain}", project.project.organization
    _, response = provider.log_in(subject, people.teammate)
    organization.requires_single_sign_on = True
    organization.save()
    assert people.teammate.post(response["Location"]).status_code == 403
    _, response = provider.log_in(subject, people.teammate)
    assert response.status_code == 403
    assert "requires another way to log in" in response.content.decode()
    assert not Identity.objects.filter(subject=subject).exists()


def test_nobody_changes_a_role_by_group_by_hand(provider, ada, people, project):
    provider.log_in(ada)
    member = membership(ada, project)
    page = f"/admin/project/{project.domain}/people"
    html = people.owner.post(page, {"member": str(member.pk), "role": "owner"}, follow=True).content.decode()
    assert "Groups decide about" in html
    assert f'name="member" value="{member.pk}"' not in html
    assert membership(ada, project).role == "writer"
    rules = people.owner.get(f"{page}/log-in").content.decode()
    assert f"<bdi>owner of {project.domain}</bdi>" in rules, "the members who are not connected"
    assert f"<bdi>{member.user.username}</bdi>" not in rules


def test_starts_are_limited_by_address(provider, settings):
    settings.ENV = settings.ENV.model_copy(update={"limit_login_ip": "2/d"})
    browser = new_browser()
    assert [browser.get("/admin/login/single-sign-on").status_code for _ in range(3)] == [302, 302, 429]


def test_a_provider_that_is_away_or_another_is_told(provider, settings, caplog):
    change(settings, oidc_issuer="http://127.0.0.1:9")
    response = new_browser().get("/admin/login/single-sign-on")
    assert response.status_code == 503, "proxies replace the page of a 502"
    assert "Example ID cannot be reached at the moment" in response.content.decode()
    assert "Log in with a password" in response.content.decode()
    assert "GET http://127.0.0.1:9/.well-known/openid-configuration: ConnectError" in caplog.text
    env = change(settings, oidc_issuer="http://127.0.0.1:9/another")
    client = protocol._build_client(env.oidc_issuer, env.oidc_client_id, SECRET, env.oidc_scopes)
    client._server_metadata_url = f"{provider.url}/.well-known/openid-configuration"
    response = new_browser().get("/admin/login/single-sign-on")
    assert "does not answer as it should" in response.content.decode()
    assert f"of another issuer, {provider.url}, than OIDC_ISSUER, http://127.0.0.1:9/another" in caplog.text


@pytest.mark.parametrize(
    ("own", "hosts", "found", "advised"),
    first_of(
        [
            (
                {},
                ["localhost", "docs.acme.example"],
                "http://docs.acme.example/admin/login/single-sign-on/callback",
                "",
            ),
            (
                {"oidc_client_secret": "old"},
                [],
                "does not take this service's name and secret (401)",
                "OIDC_CLIENT_SECRET",
            ),
            ({}, ["unregistered.example"], "refuses to lead back to http://unregistered.example/", "Register http://"),
            ({"oidc_issuer": "http://127.0.0.1:9"}, [], "ConnectError", "Open http://127.0.0.1:9/.well-known/"),
            ({"oidc_issuer": ""}, [], "", ""),
        ],
        1,
    ),
)
def test_doctor_says_what_of_the_provider_does_not_work(provider, settings, own, hosts, found, advised):
    change(settings, **own)
    settings.ALLOWED_HOSTS = hosts
    finding = components.check_provider()
    assert (finding is None) == (not found)
    assert finding is None or (found in finding.fact and advised in finding.advice), finding
    assert finding is None or bool(finding.advice) == bool(advised), finding


@pytest.mark.parametrize("status", [403, 429, 503])
def test_doctor_does_not_blame_what_it_could_not_try(provider, settings, monkeypatch, status):
    settings.ALLOWED_HOSTS = ["docs.acme.example"]
    for method, subject in (("get", "redirect address"), ("post", "name and secret")):
        monkeypatch.setattr(doctor.httpx, method, lambda *_, **__: httpx.Response(status))
        assert components.check_provider().fact == f"the {subject} could not be tried: the provider answers {status}"


def test_names_of_groups_stay_in_one_line_of_the_log():
    reason = sign_on_groups.explain_no_role(SimpleNamespace(groups=["a\nERROR b", "x" * 5000]))
    assert "a ERROR b, xxx" in reason
    assert len(reason) < 200


def test_the_secret_goes_to_the_named_address_only(provider, settings):
    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self):
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            content = json.dumps({"issuer": url, **{name: f"{url}/{name}" for name in names}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self):
            asked.append(self.path)
            self.send_response(307)
            self.send_header("Location", f"{url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    asked = []
    server = HTTPServer(("127.0.0.1", 0), Redirecting)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    change(settings, oidc_issuer=url)
    browser = new_browser()
    start = browser.get("/admin/login/single-sign-on")
    state = parse_qs(urlsplit(start["Location"]).query)["state"][0]
    back = browser.get("/admin/login/single-sign-on/callback", {"state": state, "code": "x"})
    server.shutdown()
    assert (back.status_code, asked) == (503, ["/token_endpoint"])


def test_without_a_provider_there_is_no_single_sign_on(client):
    assert "single-sign-on" not in client.get("/admin/login/").content.decode()
    for path in ("", "/callback"):
        assert client.get(f"/admin/login/single-sign-on{path}").status_code == 404


def test_the_log_in_page_has_the_button(provider):
    page = new_browser().get("/admin/login/", {"next": "/admin/project/acme/"}).content.decode()
    assert "Log in with Example ID" in page
    assert 'href="/admin/login/single-sign-on?next=%2Fadmin%2Fproject%2Facme%2F"' in page
