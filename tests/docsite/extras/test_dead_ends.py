"""Dead ends: which addresses are kept, which page is nearest, and what redirects say whatever strangers ask for."""

import io
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from docsite.core.access.authentication import Caller
from docsite.core.background import leases
from docsite.core.http.client_address import parse_address
from docsite.core.http.errors import NotFound
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import Project
from docsite.extras.access_logs.files import LogFile
from docsite.extras.access_logs.importing import create_parser, import_log
from docsite.extras.dead_ends import fingerprints, formats, recording, redirects, watching
from docsite.extras.dead_ends.management.commands import redirects as command
from docsite.extras.dead_ends.matching import Known, Matcher
from docsite.extras.dead_ends.models import Fingerprint, MissingPage, Progress
from docsite.extras.dead_ends.redirects import Target
from docsite.extras.mcp.tools import read_page
from docsite.extras.mcp.tools.tool import ToolContext
from search.indexing.ingest import ingest
from search.missing_pages import MissingRequest
from search.models import Generation
from search.sources import Page
from tests.analytics.conftest import CHROME, CURL, GOOGLEBOT, GPTBOT
from tests.conftest import Service, Tenant, wait_for
from tests.variants import first_of

CLAUDE = "Mozilla/5.0 (compatible; Claude-User/1.0)"
TEXTS = {
    "Install acme": "Install acme with pip. Then write a file with its settings, and start it as a service of systemd.",
    "Webhooks": "Acme calls an address of yours when an order was paid. Check the signature of each call.",
    "Limits": "A key may send a hundred requests in a minute. More are answered with the status 429 and a header.",
    "Printers": "Thermal printers are found on the local network. Pair each one with the code that it prints.",
}


def page(path: str, title: str, groups: tuple[str, ...] | None = None) -> Page:
    return Page(path, path, f"# {title}\n\n{TEXTS[title]} {TEXTS[title].upper()}\n", groups=groups)


START = [page("/install", "Install acme"), page("/hooks", "Webhooks"), page("/limits", "Limits")]


@pytest.fixture(scope="module", autouse=True)
def _forget_earlier() -> None:
    """Leave nothing to do for the projects of other tests: each of them would be compared."""
    now = timezone.now()
    generations = Generation.objects.values_list("project", "number")
    done = [Progress(project_id=project, generation=number, looked_at=now) for project, number in generations]
    changed = ["generation", "looked_at"]
    Progress.objects.bulk_create(done, update_conflicts=True, unique_fields=["project"], update_fields=changed)


@pytest.fixture
def site(make_project: Any) -> Project:
    """A project of three pages, whose fingerprints are known."""
    redirects.forget_cached()
    project: Project = make_project().project
    ingest(project, START)
    watching.catch_up()
    return project


def replace_pages(project: Project, *pages: Page) -> None:
    ingest(project, pages)
    watching.catch_up()
    redirects.forget_cached()


def ask(project: Project, path: str, user_agent: str = CHROME, referrer: str = "") -> None:
    recording.record(project, [MissingRequest(path, timezone.now(), user_agent, referrer)])
    recording.flush()
    watching.catch_up()
    redirects.forget_cached()


def written(project: Project, form: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("redirects", project.domain, format=form, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.slow
def test_a_process_without_other_background_work_stores_what_it_was_asked_for(
    service: Service, site: Project, http: httpx.Client
) -> None:
    """The service runs with `--no-background`. A worker could not store it: the counts are in the service's memory."""
    arguments = {"name": "read_page", "arguments": {"path": "/nowhere"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    headers = {"User-Agent": CLAUDE, "Accept": "application/json, text/event-stream"}
    http.post(f"{service.url}/mcp/{site.domain}", json=body, headers=headers).raise_for_status()
    asked = MissingPage.objects.filter(project=site, path="/nowhere", agents=1)
    wait_for(asked.exists, "the request to be stored")


def test_a_page_that_moved_is_found_by_its_text(site):
    replace_pages(site, page("/start/set-up", "Install acme"), *START[1:])
    moved = MissingPage.objects.get(project=site)
    assert (moved.path, moved.kind, moved.nearest) == ("/install", "moved", "/start/set-up")
    assert redirects.find_replacement(site, "/install") == "/start/set-up"
    assert "/install /start/set-up 301\n" in written(site, "netlify")
    replace_pages(site, *START)
    assert not MissingPage.objects.filter(project=site, path="/install").exists(), "the page is back"


def test_a_page_that_is_gone_for_good_leads_nowhere(site):
    replace_pages(site, *START[:2], page("/printers", "Printers"))
    assert redirects.build(site) == {}
    assert written(site, "nginx") == ""


def test_a_page_that_moved_twice_leads_to_its_last_place(site):
    replace_pages(site, page("/start/set-up", "Install acme"), *START[1:])
    replace_pages(site, page("/first-steps", "Install acme"), *START[1:])
    assert {path: target.path for path, target in redirects.build(site).items()} == {
        "/install": "/first-steps",
        "/start/set-up": "/first-steps",
    }


def test_chains_are_followed_and_loops_are_left_out():
    sure = {"/a": "/b", "/b": "/c", "/x": "/y", "/y": "/x", "/end": "/nowhere", "/self": "/self"}
    steps = {path: Target(target, 0.95) for path, target in sure.items()}
    resolved = {path: redirects.resolve(path, steps, {"/c"}) for path in steps}
    assert resolved == {
        **dict.fromkeys(("/x", "/y", "/end", "/self")),
        "/a": Target("/c", 0.95 * 0.95),
        "/b": Target("/c", 0.95),
    }


def test_no_redirect_leads_to_or_from_a_protected_page(site):
    replace_pages(site, page("/start/set-up", "Install acme", ("staff",)), *START[1:])
    assert redirects.build(site, 0.0).get("/install", Target("/limits", 0)).path != "/start/set-up"
    replace_pages(site, page("/install", "Install acme", ("staff",)), page("/set-up", "Install acme"), *START[1:])
    ask(site, "/install", CLAUDE)  # whoever may not see it
    assert not MissingPage.objects.filter(project=site, path="/install", agents__gt=0).exists()
    row = {"kind": "broken", "nearest": "/set-up", "confidence": 0.99, "generation": 1}  # from before it was written
    MissingPage.objects.update_or_create(row, project=site, path="/install")  # a service may have seen the page go
    assert "/install" not in redirects.build(site, 0.0)
    assert not Fingerprint.objects.filter(project=site, path="/install").exists()


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("/instal", "/docs/install"),
        ("/guide/webhooks", "/docs/webhooks"),
        ("/docs/webhook", "/docs/webhooks"),
        ("/docs/rate_limits", "/docs/rate-limits"),
        ("/wp-login", None),
    ],
)
def test_an_address_that_is_only_asked_for_is_compared_by_its_words(path, nearest):
    pages = [Known(path) for path in ("/docs/install", "/docs/webhooks", "/docs/rate-limits", "/docs/printers", "/")]
    match = Matcher(pages).find(Known(path))
    assert (match and match.path) == nearest


def test_two_versions_of_a_text_share_most_of_their_sketch():
    text = " ".join(f"word{number} of the long page" for number in range(200))
    changed = text.replace("word7 ", "another ")
    alike = (fingerprints.decode(fingerprints.sketch(text)) == fingerprints.decode(fingerprints.sketch(changed))).mean()
    other = fingerprints.decode(fingerprints.sketch("nothing in common here " * 50))
    assert alike > 0.9
    assert (fingerprints.decode(fingerprints.sketch(text)) == other).mean() < 0.1
    assert fingerprints.sketch(" \n") == b""


def test_who_asked_tells_a_wrong_link_from_an_invented_address(site):
    ask(site, "/guides/retries", CLAUDE)
    ask(site, "/guides/retries", GPTBOT)
    row = MissingPage.objects.get(project=site)
    assert (row.kind, row.agents, row.people, row.agent) == ("invented", 2, 0, "GPTBot")
    ask(site, "/guides/retries", CHROME, "https://docs.acme.example/limits?x=secret")
    row.refresh_from_db()
    assert (row.kind, row.people, row.linked_from) == ("broken", 1, "/limits")
    ask(site, "/guides/retries", CHROME, "https://blog.example/private/page")
    row.refresh_from_db()
    assert row.linked_from == "https://blog.example"


@pytest.mark.parametrize(
    "path", ["/wp-login.php", "/.env", "/a/.git/config", "/a\\b", "/" + "x" * 301, "/line\u2028end", "/image.png", "/"]
)
def test_what_is_no_page_is_not_kept(site, path):
    ask(site, path)
    assert not MissingPage.objects.filter(project=site).exists()


@pytest.mark.parametrize(
    ("user_agent", "people", "agents", "crawlers"),
    [("", 0, 1, 0), (CURL, 0, 1, 0), (CHROME, 0, 1, 0), (CLAUDE, 0, 1, 0), (GOOGLEBOT, 0, 0, 1)],
)
def test_who_asks_for_markdown_is_an_agent(site, user_agent, people, agents, crawlers):
    asked = MissingRequest("/nowhere", timezone.now(), user_agent, wants_markdown=True)
    recording.record(site, [asked])
    recording.flush()
    row = MissingPage.objects.get(project=site)
    assert (row.people, row.agents, row.crawlers) == (people, agents, crawlers)


def test_requests_for_a_page_that_was_there_are_added_up(site):
    replace_pages(site, *START[1:])
    for path in ("/install", "/nowhere", "/install", "/nowhere"):
        ask(site, path, CLAUDE, "https://blog.example/a")
    ask(site, "/install", CHROME)
    found = MissingPage.objects.filter(project=site).order_by("path")
    rows = list(found.values_list("path", "kind", "agents", "people", "agent", "linked_from"))
    assert rows == [
        ("/install", "moved", 2, 1, "Claude-User", "https://blog.example"),
        ("/nowhere", "broken", 2, 0, "Claude-User", "https://blog.example"),
    ]
    then = MissingPage.objects.get(path="/install", project=site)
    assert then.sketch, "what the page was like stays"
    recording.record(site, [MissingRequest("/install", timezone.now() - timedelta(days=1), CHROME)])
    recording.flush()
    now = MissingPage.objects.get(path="/install", project=site)
    assert (now.people, now.last_at) == (2, then.last_at)


def test_http_clients_and_other_bots_are_not_kept(site):
    ask(site, "/nowhere", "curl/8.1")
    ask(site, "/nowhere", "Mozilla/5.0 (compatible; AhrefsBot/7.0)")
    assert not MissingPage.objects.filter(project=site).exists()


def test_strangers_cannot_fill_the_table(site, monkeypatch):
    monkeypatch.setattr(recording, "MAX_ASKED", 20)
    monkeypatch.setattr(recording, "_FREED", 5)
    for _ in range(2):
        ask(site, "/wanted")
    for number in range(60):
        ask_once = MissingRequest(f"/noise-{number}", timezone.now(), CHROME)
        recording.record(site, [ask_once])
    recording.flush()
    kept = set(MissingPage.objects.filter(project=site).values_list("path", flat=True))
    assert len(kept) <= 20
    assert "/wanted" in kept


def test_a_network_asks_for_few_addresses_in_a_minute(site, monkeypatch):
    clock = SimpleNamespace(monotonic=lambda: 6_000.0)
    monkeypatch.setattr(recording, "time", clock)
    monkeypatch.setattr(recording, "MAX_A_MINUTE", 3)
    noise = [f"/noise-{number}" for number in range(10)]
    for network, paths in {"198.51.100.1": noise, "198.51.100.2": ["/wanted"], "": ["/log-1", "/log-2"]}.items():
        recording.record(site, [MissingRequest(path, timezone.now(), CHROME, network=network) for path in paths])
    clock.monotonic = lambda: 6_060.0
    later = ["/noise-0", "/later"]
    recording.record(site, [MissingRequest(path, timezone.now(), CHROME, network="198.51.100.1") for path in later])
    recording.flush()
    kept = dict(MissingPage.objects.filter(project=site).values_list("path", "people"))
    assert kept == {
        **{"/noise-0": 2, "/noise-1": 1, "/noise-2": 1, "/later": 1, "/wanted": 1},
        **{"/log-1": 1, "/log-2": 1},
    }


def add_up_requests() -> None:
    """Ask twice for a page that was there, and for many that never were. Another test runs it on PostgreSQL."""
    project, *_ = create_project("dead-ends", "Dead ends", "https://docs.acme.example", [])
    then = timezone.now()
    MissingPage.objects.create(project=project, path="/moved", kind="moved", title="Moved", last_at=then)
    paths = ["/moved", *(f"/noise-{number}" for number in range(100))]
    for agent, at in (("Claude-User/1.0", then - timedelta(days=1)), ("ChatGPT-User/1.0", then)):
        recording.record(project, [MissingRequest(path, at, agent) for path in paths])
        recording.flush()
    rows = MissingPage.objects.filter(project=project)
    assert set(rows.values_list("agents", "agent", "last_at")) == {(2, "ChatGPT-User", then)}
    assert sorted(rows.order_by("path").values_list("kind", "title")[:2]) == [("invented", ""), ("moved", "Moved")]
    assert watching.is_due()
    watching.catch_up()
    assert not watching.is_due()


def test_many_addresses_are_stored_with_few_statements(site, django_assert_max_num_queries):
    requests = [MissingRequest(f"/noise-{number}", timezone.now(), CHROME) for number in range(120)]
    recording.record(site, requests)
    with django_assert_max_num_queries(15):
        recording.flush()
    assert MissingPage.objects.filter(project=site, people=1, kind="broken").count() == 120


def test_old_addresses_are_forgotten(site):
    ask(site, "/nowhere")
    replace_pages(site, *START[1:])
    MissingPage.objects.filter(project=site).update(last_at=timezone.now() - timedelta(days=91))
    watching.sweep()
    assert [row.path for row in MissingPage.objects.filter(project=site)] == ["/install"]


HOSTILE = [
    "/a b",
    "/a\n/b https://evil.example 301",
    "/a*",
    "/a/:splat",
    '/a"; } location / { return 301 https://evil.example; }',
    "/a$request_uri",
    "/a{http.request.host}",
    "/a`",
    "/~^/.*$",
    "/(.+)+$",
    "/a/../../etc/passwd",
    "/a/./b",
    "//evil.example/a",
    "/a;b",
    "/a#b",
    "/a?b",
    "/a%0a",
    "/a\\b",
    "/a<script>",
    "/" + "x" * 201,
]


def test_addresses_of_strangers_break_no_file_of_redirects(site, tmp_path):
    for path in (*HOSTILE, "/grüße", "/v1.2/~user/a+b,c@d"):
        MissingPage.objects.create(
            project=site, path=path, kind="broken", nearest="/install", confidence=0.99, generation=1
        )
    table = redirects.build(site)
    assert len(table) == len(HOSTILE) + 2
    netlify = written(site, "netlify").splitlines()
    assert [line.split()[0] for line in netlify] == [
        *("/gr%C3%BC%C3%9Fe", "/gr%C3%BC%C3%9Fe/"),
        *("/v1.2/~user/a%2Bb%2Cc%40d", "/v1.2/~user/a%2Bb%2Cc%40d/"),
    ]
    assert all(re.fullmatch(r"/[\w%./~-]+ /install 301", line, re.ASCII) for line in netlify)
    for line in written(site, "nginx").splitlines():
        assert re.fullmatch(r'location = "/[\w./~+,@-]+" \{ return 301 "/install"; \}', line)
    caddy = written(site, "caddy").splitlines()
    assert all(re.fullmatch(r'\t"/[\w./~+,@-]+" "/install"', line) for line in caddy[1:-4])
    assert caddy[0] == "map {path} {moved_to} {"
    written(site, "html", output=tmp_path)
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert files == {"grüße/index.html", "v1.2/~user/a+b,c@d/index.html"}


@pytest.mark.parametrize("path", HOSTILE)
def test_each_hostile_address_is_refused(path):
    assert not formats.is_safe(path)


def test_targets_hold_no_variables():
    (rule, _) = formats.list_rules("/a", 'https://docs.acme.example/$host/:splat/{x}?q=1#b;c"d')
    assert rule.target == "https://docs.acme.example/%24host/%3Asplat/%7Bx%7D?q=1#b%3Bc%22d"


def test_pages_that_lead_on_replace_no_page_of_the_site(site, tmp_path):
    replace_pages(site, page("/start/set-up", "Install acme"), *START[1:])
    own = tmp_path / "install" / "index.html"
    own.parent.mkdir()
    own.write_text("still here")
    written(site, "html", output=tmp_path)
    assert own.read_text() == "still here"
    own.unlink()
    written(site, "html", output=tmp_path)
    assert '<meta http-equiv="refresh" content="0; url=/start/set-up">' in own.read_text()
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    own.unlink()
    own.parent.rmdir()
    own.parent.symlink_to("/")
    with pytest.raises(CommandError, match="outside"):
        written(site, "html", output=tmp_path)


@pytest.mark.parametrize("ending", first_of(["", "/"], 1))
def test_redirects_are_below_the_folder_of_the_docs_url(site, ending):
    replace_pages(site, page("/start/set-up", "Install acme"), *START[1:])
    site.docs_url = f"https://docs.acme.example/docs{ending}"
    site.save()
    lines = ["/docs/install /docs/start/set-up 301", "/docs/install/ /docs/start/set-up 301"]
    assert written(site, "netlify").splitlines() == lines


def test_the_command_waits_for_another_process(site, monkeypatch):
    ingest(site, [page("/start/set-up", "Install acme"), *START[1:]])
    progress = leases.claim(Progress.objects.filter(project=site), watching.LEASE)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        leases.release(progress)

    now = iter(range(100))
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=lambda: next(now), sleep=wait))
    assert "/install /start/set-up 301" in written(site, "netlify")
    assert len(waits) == 1
    leases.claim(Progress.objects.filter(project=site), watching.LEASE)
    monkeypatch.setattr(command, "WAIT_SECONDS", 0.0)
    with pytest.raises(CommandError, match="Another process"):
        written(site, "netlify")


def test_the_command_names_what_is_missing(site):
    with pytest.raises(CommandError, match="--output"):
        written(site, "html")
    with pytest.raises(CommandError, match="from 0 to 1"):
        written(site, "nginx", confidence=2.0)


def test_an_agent_is_told_where_the_page_is_now(site):
    replace_pages(site, page("/start/set-up", "Install acme"), *START[1:])
    context = ToolContext(Caller(None, site, parse_address("198.51.100.7")), None, CLAUDE, "")
    with pytest.raises(NotFound, match="probably at /start/set-up now"):
        read_page._load(context, "/install")
    with pytest.raises(NotFound, match="Use a path that search_docs returns"):
        read_page._load(context, "https://docs.acme.example/zebra")
    recording.flush()
    asked = MissingPage.objects.get(project=site, path="/zebra")
    assert (asked.kind, asked.agents) == ("invented", 1)


def test_the_404_page_shows_the_page_that_took_its_place(site, monkeypatch):
    monkeypatch.setattr("docsite.site.views.last_site_project", lambda: site)
    MissingPage.objects.create(
        project=site, path="/zebra", kind="broken", nearest="/limits", confidence=0.99, generation=1
    )
    replace_pages(site, *START, page("/webhooks", "Webhooks"))
    MissingPage.objects.filter(project=site).update(nearest="/webhooks", confidence=0.99)
    redirects.forget_cached()
    answer = Client(headers={"user-agent": CHROME}).get("/zebra", headers={"accept": "text/markdown"})
    assert answer.status_code == 404
    assert answer.content.decode().split("\n- ")[1].endswith("(/webhooks.md)")
    recording.flush()
    assert MissingPage.objects.get(project=site, path="/zebra").people == 1
    monkeypatch.setattr(recording, "MAX_A_MINUTE", 0)
    Client(headers={"user-agent": CHROME}).get("/giraffe")
    recording.flush()
    assert not MissingPage.objects.filter(project=site, path="/giraffe").exists(), "of a network that asks too often"


def test_logs_tell_which_pages_were_missed(site, tmp_path):
    now = f"{datetime.now(UTC) - timedelta(minutes=5):%d/%b/%Y:%H:%M:%S +0000}"
    log = tmp_path / "access.log"
    lines = [
        ("/old-page", 404, CHROME),
        ("/old-page", 410, CLAUDE),
        ("/logo.png", 404, CHROME),
        ("/limits", 200, CHROME),
    ]
    log.write_text(
        "".join(
            f'198.51.100.1 - - [{now}] "GET {path} HTTP/1.1" {status} 5 "-" "{agent}"\n'
            for path, status, agent in lines
        )
    )
    for again in (False, False, True):
        with LogFile(log) as file:
            import_log(site, file, create_parser(site), lambda summary: None, again=again)
    (row,) = MissingPage.objects.filter(project=site)
    assert (row.path, row.people, row.agents) == ("/old-page", 1, 1)


def test_owners_see_dead_ends_and_strangers_do_not(project: Tenant, people):
    MissingPage.objects.create(
        project=project.project, path="/<b>zebra", kind="invented", agents=3, agent="Claude-User", nearest="/install"
    )
    address = f"/admin/project/{project.domain}/dead-ends"
    shown = people.teammate.get(address)
    assert shown.status_code == 200
    assert "/&lt;b&gt;zebra" in shown.content.decode()
    assert "Only agents ask for it 1" in shown.content.decode()
    assert people.stranger.get(address).status_code == 404
    gaps = people.teammate.get(f"/admin/project/{project.domain}/gaps").content.decode()
    assert f'href="{address}"' in gaps


def test_the_thread_looks_only_where_something_is_due(site):
    watching.catch_up()  # what other tests have left
    assert not watching.is_due()
    ask(site, "/instal")
    assert not watching.is_due(), "the nearest pages were found a moment ago"
    rows = MissingPage.objects.filter(project=site, generation=None)
    watching.catch_up()
    assert rows.exists()
    Progress.objects.filter(project=site).update(looked_at=timezone.now() - watching.LOOK_AGAIN)
    assert watching.is_due()
    watching.catch_up()
    assert not rows.exists()
    assert not watching.is_due()
    ask(site, "/instal-l")
    ingest(site, START[:2])
    assert watching.is_due(), "the index has changed"
    watching.catch_up()
    assert not rows.exists()


def test_two_tenants_do_not_share_addresses(site, make_project: Any):
    other = make_project().project
    ask(site, "/nowhere")
    assert not MissingPage.objects.filter(project=other).exists()
    assert redirects.build(other) == {}
