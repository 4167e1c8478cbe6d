"""Signed agents: which signatures count, and that nobody waits for the site of an agent."""

import asyncio
import base64
import json
import re
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import AsyncRequestFactory
from django.utils import timezone
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms

from analytics.collecting import middleware, recording
from analytics.collecting.recording import Observation
from analytics.collecting.signatures import SignedRequest
from analytics.counting import agent_views, recount, sealer
from analytics.models import PageView
from analytics.reports.agent_report import build_agent_row
from docsite.core.http.client_address import parse_address
from docsite.core.tenants.models import ApiKey, Project
from docsite.extras.agent_pages import edge
from docsite.extras.web_bot_auth import directories, verification
from docsite.extras.web_bot_auth.models import UsedSignature
from tests.analytics.conftest import CHROME, GPTBOT
from tests.conftest import ROOT, Tenant
from tests.variants import first_of

SITE = "https://docs.acme.example"
COVERED = ("@authority", '"signature-agent";key="sig1"')
READER = parse_address("198.51.100.7")


class Signed(NamedTuple):
    """The headers of a request, in the parts that a test changes."""

    url: str
    headers: dict[str, str]


@dataclass
class Agent:
    """An agent with a key, and the site that publishes it."""

    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    body: bytes = b""
    seconds: float = 0.0  # that the site waits
    asked: list[str] = field(default_factory=list)
    origin: str = ""

    def __post_init__(self) -> None:
        self.publish(self.key)

    @property
    def key_id(self) -> str:
        return directories.compute_thumbprint(self.key.public_key())

    def publish(self, *keys: Ed25519PrivateKey, **more: Any) -> None:
        jwks = [
            {"kty": "OKP", "crv": "Ed25519", "x": encode(key.public_key().public_bytes_raw()), **more} for key in keys
        ]
        self.body = json.dumps({"keys": jwks}).encode()

    def sign(
        self,
        path: str = "/install",
        *,
        host: str = SITE,
        agent: str | None = None,
        covered: tuple[str, ...] = COVERED,
        tag: str | None = "web-bot-auth",
        age: int = 0,
        lifetime: int = 300,
        key_id: str = "",
        key: Ed25519PrivateKey | None = None,
        now: datetime | None = None,
    ) -> Signed:
        created = (now or datetime.now(UTC)) - timedelta(seconds=age)
        message = Message("GET", host + path, {"Signature-Agent": f'sig1="{self.origin}"' if agent is None else agent})
        resolver = MappingKeyResolver(public_keys={}, private_keys={(key_id or self.key_id): key or self.key})
        HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=resolver).sign(
            message,
            key_id=key_id or self.key_id,
            created=created,
            expires=created + timedelta(seconds=lifetime),
            nonce=uuid.uuid4().hex,
            label="sig1",
            tag=tag,
            include_alg=False,
            covered_component_ids=covered,
        )
        return Signed(message.url, message.headers)


@dataclass
class Message:
    method: str
    url: str
    headers: dict[str, str]


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def serve(agent: Agent) -> Iterator[Agent]:
    """Serve the directory of an agent on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            agent.asked.append(self.path)
            time.sleep(agent.seconds)
            with suppress(BrokenPipeError):  # nobody waits any more
                self.send_response(200 if self.path == directories.PATH else 404)
                self.send_header("Content-Length", str(len(agent.body)))
                self.end_headers()
                self.wfile.write(agent.body)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent.origin = f"http://127.0.0.1:{server.server_port}"
    try:
        yield agent
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def agent(settings: Any) -> Iterator[Agent]:
    directories.forget()
    with serve(Agent()) as found:
        host = found.origin.removeprefix("http://")
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": (host,)})
        yield found


@pytest.fixture
def site(make_project: Any) -> Project:
    return make_project().project


def view(site: Project, request: Signed, user_agent: str = CHROME, **more: Any) -> PageView:
    """The stored view of a request."""
    facts = {"view_id": uuid.uuid4().hex, "at": timezone.now(), **more}
    signed = SignedRequest(request.url, tuple(request.headers.items()))
    seen = Observation(raw_path="/install", address=READER, user_agent=user_agent, signed=signed, **facts)
    recording.record(site, [seen])
    return PageView.objects.filter(project=site).latest("pk")


def test_a_signed_agent_is_ai_whatever_its_user_agent_says(site, agent):
    stored = view(site, agent.sign())
    host = agent.origin.removeprefix("http://")
    assert (stored.verified, stored.client_class, stored.agent) == ("sig", "ai_agent", host)
    assert stored.rule == f"signature: {agent.key_id}"
    assert view(site, agent.sign(), "curl/8.1").client_class == "ai_agent"
    named = view(site, agent.sign(), GPTBOT)
    assert (named.client_class, named.agent, named.operator) == ("ai_training", host, ""), "a name that it cannot prove"
    assert len(agent.asked) == 1, "the directory is remembered"


ACCEPTED: dict[str, dict[str, Any]] = {
    "the member of the dictionary": {},
    "the whole header, as earlier drafts had it": {"covered": ("@authority", "signature-agent"), "agent": "string"},
    "the whole address instead of the host": {"covered": ("@target-uri", COVERED[1])},
    "more than it must": {"covered": ("@method", "@authority", "@path", "user-agent", COVERED[1])},
    "for a day": {"lifetime": 86_400},
    "by a clock that is 20 s ahead": {"age": -20},
}


@pytest.mark.parametrize("case", first_of(ACCEPTED, 2))
def test_a_signature_counts(site, agent, case):
    options = dict(ACCEPTED[case])
    if options.get("agent") == "string":
        options["agent"] = f'"{agent.origin}"'
    request = (
        sign_with_user_agent(agent, options) if "user-agent" in options.get("covered", ()) else agent.sign(**options)
    )
    assert view(site, request).verified == "sig"


def sign_with_user_agent(agent: Agent, options: dict[str, Any]) -> Signed:
    """A signature that covers a header of the request."""
    message = Message("GET", f"{SITE}/install", {"Signature-Agent": f'sig1="{agent.origin}"', "User-Agent": CHROME})
    resolver = MappingKeyResolver(public_keys={}, private_keys={agent.key_id: agent.key})
    now = datetime.now(UTC)
    HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=resolver).sign(
        message,
        key_id=agent.key_id,
        created=now,
        expires=now + timedelta(minutes=1),
        label="sig1",
        tag="web-bot-auth",
        covered_component_ids=options["covered"],
    )
    return Signed(message.url, message.headers)


def change(name: str, *pair: str) -> Any:
    """A request whose header was changed on the way."""
    return lambda agent: (signed := agent.sign())._replace(
        headers={**signed.headers, name: signed.headers[name].replace(*pair)}
    )


def with_time(name: str, value: str) -> Any:
    """A request with another time in its signature."""

    def act(agent: Agent) -> Signed:
        signed = agent.sign()
        changed = re.sub(rf"{name}=\d+", f"{name}={value}", signed.headers["Signature-Input"])
        return signed._replace(headers={**signed.headers, "Signature-Input": changed})

    return act


def forge(agent: Agent) -> Signed:
    signed = agent.sign()
    return signed._replace(headers={**signed.headers, "Signature": f"sig1=:{base64.b64encode(bytes(64)).decode()}:"})


def publish_another(agent: Agent) -> Signed:
    agent.publish(Ed25519PrivateKey.generate(), kid=agent.key_id)
    return agent.sign()


def publish(body: bytes) -> Any:
    def act(agent: Agent) -> Signed:
        agent.body = body
        return agent.sign()

    return act


def publish_for(**times: float) -> Any:
    def act(agent: Agent) -> Signed:
        agent.publish(agent.key, **times)
        return agent.sign()

    return act


def with_two_signatures(agent: Agent) -> Signed:
    one, two = agent.sign().headers, agent.sign().headers
    both = {name: f"{one[name]}, {two[name].replace('sig1=', 'sig2=', 1)}" for name in ("Signature", "Signature-Input")}
    return Signed(f"{SITE}/install", {**one, **both})


REFUSED: dict[str, Any] = {
    "forged": forge,
    "by another key": lambda agent: agent.sign(key=Ed25519PrivateKey.generate()),
    "with a key id that is no thumbprint": lambda agent: agent.sign(key_id="mine"),
    "a directory that names another key": publish_another,
    "expired": lambda agent: agent.sign(age=400, lifetime=300),
    "of the future": lambda agent: agent.sign(age=-120),
    "for two days": lambda agent: agent.sign(lifetime=2 * 86_400),
    "for another host": lambda agent: agent.sign(host="https://other.example"),
    "for another host, sent to ours": lambda agent: agent.sign(host="https://other.example")._replace(
        url=f"{SITE}/install"
    ),
    "for another page": lambda agent: agent.sign("/limits", covered=("@target-uri", COVERED[1]))._replace(
        url=f"{SITE}/install"
    ),
    "that covers nothing": lambda agent: agent.sign(covered=()),
    "that leaves the host out": lambda agent: agent.sign(covered=("@method", COVERED[1])),
    "that leaves Signature-Agent out": lambda agent: agent.sign(covered=("@authority",)),
    "whose Signature-Agent was exchanged": change("Signature-Agent", "127.0.0.1", "127.0.0.2"),
    "that covers another member of Signature-Agent": lambda agent: agent.sign(
        agent=f'sig1="{agent.origin}", other="https://other.example"',
        covered=("@authority", '"signature-agent";key="other"'),
    ),
    "with another tag": lambda agent: agent.sign(tag="something-else"),
    "without a tag": lambda agent: agent.sign(tag=None),
    "whose time was changed": change("Signature-Input", "expires=1", "expires=2"),
    "of the year 1": with_time("created", "-62135596800"),
    "until the year 9999": with_time("expires", "253402300799"),
    "of a time beyond all years": with_time("expires", "999999999999999"),
    "of a part of a second": with_time("created", "1.5"),
    "of a time that is no number": with_time("expires", "?1"),
    "with another algorithm": change("Signature-Input", ";keyid", ';alg="hmac-sha256";keyid'),
    "of two at once": with_two_signatures,
    "no structured field": change("Signature-Input", "sig1=(", "sig1=((("),
    "a directory of a private host": lambda agent: agent.sign(agent='sig1="https://10.0.0.1"'),
    "a directory on another port": lambda agent: agent.sign(agent='sig1="https://agent.example:8443"'),
    "a directory over http": lambda agent: agent.sign(agent='sig1="http://agent.example"'),
    "keys inside the header": lambda agent: agent.sign(agent='sig1="data:application/json,{}"'),
    "a directory with a user": lambda agent: agent.sign(agent='sig1="https://me@agent.example"'),
    "a directory with a path": lambda agent: agent.sign(agent=f'sig1="{agent.origin}/keys"'),
    "a directory that is too large": publish(b'{"keys": [' + b" " * directories.MAX_BYTES + b"]}"),
    "a directory that is no JSON": publish(b"<html>"),
    "a directory nested without end": publish(b"[" * 50_000),
    "a key that is not valid any more": publish_for(exp=time.time() - 3_600),
    "a key that is not valid yet": publish_for(nbf=(time.time() + 86_400) * 1_000),
}


@pytest.mark.parametrize("case", first_of(REFUSED, 10))
def test_a_signature_does_not_count(site, agent, case):
    request = REFUSED[case](agent)
    stored = view(site, request, GPTBOT)
    assert stored.verified != "sig"
    assert (stored.client_class, stored.agent) == ("ai_training", "GPTBot"), "as if it were not signed"


@pytest.mark.parametrize("case", ["of the year 1", "until the year 9999"])
def test_a_signature_loses_no_view_of_its_batch(site, agent, case):
    send_together(site, REFUSED[case](agent), agent.sign())
    assert sorted(PageView.objects.filter(project=site).values_list("verified", flat=True)) == ["", "sig"]


def test_a_check_that_fails_loses_no_view(site, agent, monkeypatch, caplog):
    def fail(*arguments: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(verification, "_use", fail)  # such as its table
    send_together(site, agent.sign())
    assert PageView.objects.get(project=site).verified == ""
    assert "A signature could not be checked." in caplog.text


def send_together(site: Project, *requests: Signed) -> None:
    """Record one batch."""
    signed = [SignedRequest(request.url, tuple(request.headers.items())) for request in requests]
    ids = [uuid.uuid4().hex for _ in signed]
    facts = [(view_id, "/install", timezone.now(), READER, CHROME) for view_id in ids]
    recording.record(site, [Observation(*some, signed=one) for some, one in zip(facts, signed, strict=True)])


@pytest.mark.matrix
def test_a_batch_waits_for_all_directories_no_longer_than_for_one(site, settings, monkeypatch):
    directories.forget()
    monkeypatch.setattr(recording, "SIGNATURE_SECONDS", 0.3)
    with serve(Agent(seconds=1.0)) as one, serve(Agent(seconds=1.0)) as two, serve(Agent(seconds=1.0)) as three:
        hosts = tuple(agent.origin.removeprefix("http://") for agent in (one, two, three))
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": hosts})
        requests = [agent.sign() for agent in (one, two, three)]
        began = time.monotonic()
        send_together(site, *requests)
        assert time.monotonic() - began < 0.9
        assert len([*one.asked, *two.asked, *three.asked]) <= 1
    assert list(PageView.objects.filter(project=site).values_list("verified", flat=True)) == ["", "", ""]


def test_a_signature_counts_for_one_view(site, agent, make_project):
    request = agent.sign()
    assert view(site, request, view_id="first").verified == "sig"
    assert view(site, request).verified != "sig"
    spelled_otherwise = {**request.headers, "Signature": f"{request.headers['Signature']} "}
    assert view(site, request._replace(headers=spelled_otherwise)).verified != "sig"
    other = make_project().project
    assert view(other, request).verified != "sig"
    assert view(other, request, view_id="first").verified == "sig", "a batch may be sent again"
    UsedSignature.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    verification.sweep()
    assert not UsedSignature.objects.exists()


def test_a_server_may_report_a_view_later_but_not_much_later(site, agent):
    then = timezone.now() - timedelta(minutes=50)
    assert view(site, agent.sign(now=then), at=then).verified == "sig"
    long_ago = timezone.now() - timedelta(hours=2)
    assert view(site, agent.sign(now=long_ago), at=long_ago).verified != "sig"


def test_a_slow_directory_delays_no_page(site, agent, settings, monkeypatch):
    agent.seconds = 2.0
    monkeypatch.setattr(directories, "SECONDS", 0.3)
    began = time.monotonic()
    assert view(site, agent.sign()).verified != "sig"
    assert view(site, agent.sign()).verified != "sig", "and it is remembered that it failed"
    assert time.monotonic() - began < 5
    assert len(agent.asked) == 1


async def test_a_page_is_answered_before_the_keys_are_read(agent, monkeypatch):
    sent = threading.Event()
    waits = threading.Event()

    def send(request: Any) -> None:
        sent.set()
        waits.wait(10)

    monkeypatch.setattr(middleware, "_send", send)
    monkeypatch.setattr(middleware, "_try_send", lambda request: False)
    request = AsyncRequestFactory().get("/install", headers=agent.sign().headers)
    began = time.monotonic()
    await middleware.record_view(request)
    assert time.monotonic() - began < middleware.QUEUE_SECONDS / 2
    waits.set()
    for task in tuple(middleware._tasks):
        await task
    assert sent.is_set()


def test_strangers_cannot_make_us_fetch_without_end(agent, monkeypatch):
    monkeypatch.setattr(directories, "is_allowed", lambda origin: True)
    read: list[str] = []

    def note(origin: str) -> Any:
        read.append(origin)
        directories._running.discard(origin)
        return None

    monkeypatch.setattr(directories, "_read", note)
    for number in range(100):
        origin = f"https://agent-{number}.example"
        assert directories.find_key(origin, "x", timezone.now(), time.monotonic() + 1) is None
    assert len(read) == directories.MAX_A_MINUTE
    directories.forget()


def test_a_new_key_is_found_after_some_minutes(site, agent, monkeypatch):
    assert view(site, agent.sign()).verified == "sig"
    old, agent.key = agent.key, Ed25519PrivateKey.generate()
    agent.publish(old, agent.key)
    assert view(site, agent.sign()).verified != "sig"
    monkeypatch.setattr(directories, "NEW_KEY_SECONDS", 0.0)
    assert view(site, agent.sign()).verified == "sig"


def test_a_thumbprint_is_that_of_the_rfc():
    x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # RFC 8037, appendix A.3
    body = json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]}).encode()
    assert list(directories.parse(body)) == ["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"]


@pytest.mark.parametrize("origin", ["https://chatgpt.com", "https://chatgpt.com/", "https://ChatGPT.com:443"])
def test_an_agent_has_one_name_however_its_origin_is_written(origin):
    assert verification.parse_agent(f'sig1="{origin}"', "sig1") == "https://chatgpt.com"


def test_an_operator_may_give_the_names_of_its_agents():
    from analytics import agents

    claimed = agents.classify(GPTBOT)
    proved = agents.describe_signed(claimed, "chatgpt.com", "k")
    assert (proved.agent, proved.operator, proved.client_class) == ("GPTBot", "OpenAI", "ai_training")
    for host in ("evilchatgpt.com", "chatgpt.com.evil.example", "claude.ai"):
        assert agents.describe_signed(claimed, host, "k").agent == host


def test_reports_have_a_third_grade_which_a_new_classification_keeps(site, agent):
    view(site, agent.sign())
    view(site, agent.sign())
    sealer.seal()
    recount.reclassify(site)
    now = timezone.now()
    (found,) = agent_views.list_agents(site, now - timedelta(hours=1), now + timedelta(hours=1))
    row = build_agent_row(found, ("ai_agent",))
    assert (row["views"], row["signed"], row["verified"], row["claimed"], row["countedAsAi"]) == (2, 2, 0, 0, 2)


BATCHES = {  # what the answer says of a signed view and another one, both of a browser, and what is stored
    "admin": ({"accepted": 2, "duplicates": 0, "ignored": 0}, [("ai_agent", "sig"), ("human", "")]),
    "collecting": ({"accepted": 1, "duplicates": 0, "ignored": 0, "refused": 1}, [("ai_agent", "sig")]),
}


@pytest.mark.parametrize("kind", BATCHES)
async def test_the_batch_endpoint_takes_the_headers_of_signatures(agent, make_project, kind):
    project: Tenant = await asyncio.to_thread(make_project)
    request = agent.sign()
    item = {
        "id": "1",
        "path": "/install",
        "timestamp": f"{datetime.now(UTC):%FT%TZ}",
        "ip": "198.51.100.7",
        "userAgent": CHROME,
        "signature": request.headers["Signature"],
        "signatureInput": request.headers["Signature-Input"],
        "signatureAgent": request.headers["Signature-Agent"],
    }
    body = {"views": [item, {**item, "id": "2", "signatureAgent": None}]}
    answer, stored = BATCHES[kind]
    assert await post(project, body, kind) == answer
    rows = PageView.objects.filter(project=project.project).values_list("client_class", "verified")
    assert sorted(await asyncio.to_thread(list, rows)) == stored


async def post(project: Tenant, body: dict[str, Any], kind: str) -> Any:
    """The answer to a batch that is sent with a key of a kind."""
    from docsite.asgi import application

    headers = project.admin
    if kind == "collecting":
        own = project.project
        _, token = await asyncio.to_thread(ApiKey.issue, ApiKey.Kind.COLLECTING, own.organization, own)
        headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1") as client:
        sent = await client.post(f"/v1/collect/{project.project_id}/views", json=body, headers=headers)
    return sent.json()


RUN_WORKER = """
const { script, url, headers } = JSON.parse(process.argv[1]);
const { default: worker } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
const sent = [], waiting = [];
globalThis.setTimeout = (done) => queueMicrotask(done);
globalThis.fetch = async (address, options) => {
  if (options?.body) sent.push(options.body);
  return new Response("<p>", { headers: { "content-type": "text/html" } });
};
const request = Object.assign(new Request(url, { headers }), { cf: {} });
await worker.fetch(request, { AGENTS_TOKEN: "token" }, { waitUntil: (work) => waiting.push(work) });
await Promise.all(waiting);
console.log(sent[0]);
"""


async def test_the_worker_reports_a_signed_agent_that_calls_itself_a_browser(agent, make_project):
    project: Tenant = await asyncio.to_thread(make_project)
    script = edge.write_file(project.project, "https://service.example", "worker.js")
    headers = {**agent.sign().headers, "User-Agent": CHROME, "CF-Connecting-IP": "198.51.100.7"}
    job = json.dumps({"script": script, "url": f"{SITE}/install", "headers": headers})
    command = ["node", "--input-type=module", "-e", RUN_WORKER, job]
    run = await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, timeout=60)
    assert await post(project, json.loads(run.stdout), "collecting") == BATCHES["collecting"][0] | {"refused": 0}
    row = PageView.objects.filter(project=project.project).values_list("client_class", "verified")
    assert await asyncio.to_thread(list, row) == [("ai_agent", "sig")]


@pytest.mark.node
def test_the_package_of_npm_signs_what_we_accept(site, agent):
    jwk = {
        "kty": "OKP",
        "crv": "Ed25519",
        "d": encode(agent.key.private_bytes_raw()),
        "x": encode(agent.key.public_key().public_bytes_raw()),
    }
    script = ROOT / "tests" / "contract" / "sign.mjs"
    made = subprocess.run(
        ["node", str(script), f"{SITE}/install", agent.origin, json.dumps(jwk)],
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert view(site, Signed(f"{SITE}/install", json.loads(made.stdout))).verified == "sig"
