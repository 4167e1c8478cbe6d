"""Record page views: classify the client, hash the visitor, and hand the view to the writer."""

import functools
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from analytics import agents
from analytics.audience import describe
from analytics.collecting import verification, writer
from analytics.collecting.writer import Receipt, View
from analytics.identity import key_rotation
from analytics.identity.visitor_hash import hash_network, hash_visitor, keyed_hash
from analytics.models import EPOCH, AnalyticsSettings
from docsite.core.db import Value
from docsite.core.http.client_address import Address, network_of
from docsite.core.tenants.models import Project

_MAX_REFERRER = 2_000  # characters; the same as in a batch
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(minutes=5)  # the clock of another server may be so far ahead
NOT_COUNTED = ("search_crawler", "other_bot", "http_client")

_MICROSECOND = timedelta(microseconds=1)


class Observation(NamedTuple):
    """A view as it was observed, with personal data that will not be stored.

    `private`: the reader asked not to be tracked (`Sec-GPC`, `DNT`). `reader_id` is the
    random id that the view script keeps in a browser, where the project allows it.
    `is_own`: its reader reports it, not a server.
    """

    view_id: str
    raw_path: str
    at: datetime
    address: Address
    user_agent: str
    accept: str = ""
    referrer: str = ""
    private: bool = False
    reader_id: str = ""
    sample: bool = False
    accept_language: str = ""
    is_own: bool = False


def send(project: Project, observations: Sequence[Observation]) -> "Future[Receipt]":
    """Queue views for storage. The future ends when they are committed. A `view_id` is stored only once."""
    verification.load_if_stale()
    builder = _ViewBuilder(project)
    return writer.submit(project.pk, [builder.build(observation) for observation in observations])


def try_send(project: Project, observation: Observation) -> "Future[Receipt] | None":
    """Queue a view if everything it needs is cached; else None. Needs no database, so the event loop may call it."""
    verdict = agents.classify(observation.user_agent)
    secret = key_rotation.find_cached_secret(
        project, observation.at, private=observation.private and verdict.client_class == "human"
    )
    if secret is None or (verdict.agent and not verification.is_fresh()):
        return None
    return writer.submit(project.pk, [_ViewBuilder(project, secret).build(observation)])


def record(project: Project, observations: Sequence[Observation]) -> Receipt:
    """Store views, and return when they are committed."""
    return send(project, observations).result()


def is_counted(observation: Observation) -> bool:
    """Whether a view counts as human or AI. Other views are only listed in the report."""
    client_class = agents.classify(observation.user_agent).client_class
    return _counts(client_class, agents.requested_format(observation.raw_path, observation.accept))


def _counts(client_class: str, surface: str) -> bool:
    return client_class not in NOT_COUNTED or agents.is_markdown_fetch(client_class, surface)


class _Client(NamedTuple):
    """What a user agent says about a view. `hashed` is what the hash of a visitor uses of it."""

    verdict: agents.Verdict
    is_human: bool
    user_agent: str  # as far as it is read
    hashed: str
    facts: tuple[Value, ...]


class _ViewBuilder:
    """Turns observations of one project into views as they are stored.

    Without a `secret` for the visitor hashes, it is looked up in the database.
    """

    def __init__(self, project: Project, secret: str = "") -> None:
        self._project = project
        self._secret = secret
        self._lasting_secret = ""  # once it is known, if it does not change with time
        self._uses_reader_ids = AnalyticsSettings.for_project(project).first_party_ids
        self._clients: dict[str, _Client] = {}

    def build(self, observation: Observation) -> View:
        """The view as it is stored."""
        (view_id, raw_path, at, address, agent, accept, referrer, private, reader_id, sample, language, own) = (
            observation
        )
        client = self._clients.get(agent) or self._clients.setdefault(agent, _describe_client(agent))
        verdict, is_human, user_agent, hashed, facts = client
        network = network_of(address)
        is_private = private and is_human
        secret = self._secret or (not is_private and self._lasting_secret) or self._find_secret(at, private=is_private)
        if self._uses_reader_ids and reader_id and is_human and not private:
            visitor = keyed_hash(secret, reader_id, b"reader")
        else:
            visitor = hash_network(secret, network, hashed)
        surface = agents.requested_format(raw_path, accept)
        referrer = referrer[:_MAX_REFERRER]
        verified = verification.verify(verdict.agent, address) if verdict.agent else ""
        return View(
            # Half the size of the id, and it reveals nothing once the secret is deleted.
            keyed_hash(secret, view_id, b"view"),
            (at - EPOCH) // _MICROSECOND,
            self._project.path_of(raw_path.partition("?")[0]),
            _counts(verdict.client_class, surface),
            visitor,
            (*facts, surface, verified, _origin_of(referrer) if referrer else "", sample),
            describe(self._project, raw_path, referrer, user_agent, language, is_human=is_human),
            network if own else "",
        )

    def _find_secret(self, at: datetime, *, private: bool) -> str:
        secret = key_rotation.secret_of(self._project, at, private=private)
        if key_rotation.is_lasting(self._project, private=private):
            self._lasting_secret = secret
        return secret


def _describe_client(agent: str) -> _Client:
    verdict = agents.classify(agent)
    is_human = verdict.client_class == "human"
    user_agent = agent[: agents.MAX_LENGTH]
    return _Client(
        verdict,
        is_human,
        user_agent,
        _hashed_part(verdict, user_agent),
        (
            verdict.client_class,
            verdict.agent,
            verdict.operator,
            verdict.rule,
            agents.VERSION,
            "" if is_human else _replace_unprintable(user_agent),
        ),
    )


def _hashed_part(verdict: agents.Verdict, user_agent: str) -> str:
    """What the hash of a visitor uses of a user agent: all of it for people, only the name for AI clients."""
    return verdict.agent if verdict.client_class in agents.AI_CLASSES else user_agent


def possible_visitors(project: Project, address: Address, user_agent: str, reader_id: str = "") -> set[int]:
    """The hashes that a visitor may have, with all stored secrets of the project."""
    client, secrets = _describe_client(user_agent).hashed, key_rotation.stored_secrets(project)
    visitors = {hash_visitor(secret, address, client) for secret in secrets}
    return visitors | {keyed_hash(secret, reader_id, b"reader") for secret in secrets if reader_id}


@functools.lru_cache(10_000)
def _origin_of(referrer: str) -> str:
    """Scheme and host of a referrer. Its path is not stored."""
    try:
        parts = urlsplit(referrer)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:200] if parts.scheme in ("http", "https") else ""


@functools.lru_cache(10_000)
def _replace_unprintable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
