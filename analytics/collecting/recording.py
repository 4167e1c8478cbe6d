"""Record page views: classify the client, hash the visitor, and hand the view to the writer."""

import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from analytics import agents
from analytics.audience import Dimensions, describe
from analytics.collecting import signatures, verification, view_log, writer
from analytics.collecting.signatures import SignedRequest, Signer
from analytics.collecting.writer import Facts, Receipt, View
from analytics.identity import key_rotation
from analytics.identity.visitor_hash import build_hasher, hash_visitor, keyed_hash
from analytics.models import EPOCH, AnalyticsSettings, PageView, left_out
from docsite.core.http.client_address import Address, network_of
from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit

_MAX_REFERRER = 2_000  # characters; the same as in a batch
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(minutes=5)  # the clock of another server may be so far ahead
SIGNATURE_SECONDS = 4.0  # that the signatures of a batch take together; later views count as not signed
NOT_COUNTED = ("search_crawler", "other_bot", "http_client")

_MICROSECOND = timedelta(microseconds=1)


class Observation(NamedTuple):
    """A view as it was observed, with personal data that will not be stored.

    `private`: the reader asked not to be tracked (`Sec-GPC`, `DNT`). `reader_id` is the
    random id that the view script keeps in a browser, where the project allows it.
    `is_own`: its reader reports it, not a server. `signed` is the request, if its client signed it. `find_signers`
    puts the `signer` in its place.
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
    signed: SignedRequest | None = None
    signer: Signer | None = None


def send(project: Project, observations: Sequence[Observation]) -> "Future[Receipt]":
    """Queue views for storage, but those that are left out. The future ends when they are acknowledged.

    A `view_id` is stored only once.
    """
    return _submit(project, build_views(project, [one for one in observations if not find_left_out(project, one)]))


def find_left_out(project: Project, observation: Observation) -> str:
    """Why the project leaves a view out of its counts, as `X-View` says it; empty if it does not."""
    own = AnalyticsSettings.find(project)
    if own is None or not own.left_out:
        return ""
    listed = left_out.parse(own.left_out)
    if listed.has_address(observation.address):
        return "address: left out by the project"
    return "referrer: left out by the project" if listed.has_referrer(observation.referrer) else ""


def try_send(project: Project, observation: Observation) -> "Future[Receipt] | None":
    """Queue a view, not left out, if all it needs is cached; else None. The event loop may call it."""
    if observation.signed:
        return None
    verdict = agents.classify(observation.user_agent)
    secret = key_rotation.find_cached_secret(
        project, observation.at, private=observation.private and verdict.client_class == "human"
    )
    if secret is None or (verdict.agent and not verification.is_fresh()):
        return None
    return _submit(project, [build_view(project, observation, secret)])


def _submit(project: Project, views: Sequence[View]) -> "Future[Receipt]":
    """Have views acknowledged: by the log if there is one, else by the database."""
    if not views:
        nothing: Future[Receipt] = Future()
        nothing.set_result(Receipt(0, 0, 0))
        return nothing
    if log := view_log.find():
        return log.submit(project.project_id, views)
    return writer.submit(project.pk, views)


def record(project: Project, observations: Sequence[Observation]) -> Receipt:
    """Store views, of which none may be left out, in the database, and return when they are committed."""
    return writer.submit(project.pk, build_views(project, observations)).result()


def find_signers(project: Project, observations: Sequence[Observation]) -> list[Observation]:
    """The views, with signers instead of signed requests where the signature holds. Blocks for `SIGNATURE_SECONDS`."""
    until, find = time.monotonic() + SIGNATURE_SECONDS, signatures.find_signer
    return [
        one._replace(signed=None, signer=find(project, one.signed, one.at, one.view_id, until)) if one.signed else one
        for one in observations
    ]


def is_counted(observation: Observation) -> bool:
    """Whether a view counts as human or AI. Other views are only listed in the report."""
    client_class = _classify(observation.user_agent, observation.signer).client_class
    return _counts(client_class, agents.requested_format(observation.raw_path, observation.accept))


def is_of_person(observation: Observation) -> bool:
    """Whether a view counts as human: a browser has opened a page, not its Markdown."""
    client_class = _classify(observation.user_agent, observation.signer).client_class
    return client_class == "human" and agents.requested_format(observation.raw_path, observation.accept) == "html"


def _counts(client_class: str, surface: str) -> bool:
    return client_class not in NOT_COUNTED or agents.is_markdown_fetch(client_class, surface)


def build_views(project: Project, observations: Sequence[Observation]) -> list[View]:
    """The views as they are stored. None of them may be left out."""
    verification.load_if_stale()
    builder = _ViewBuilder(project)
    return [builder.build(observation) for observation in find_signers(project, observations)]


def build_view(project: Project, observation: Observation, secret: str = "") -> View:
    """The view as it is stored. Without the `secret` of its visitor hash, the secret is looked up in the database."""
    return _ViewBuilder(project, secret).build(observation)


class _Client(NamedTuple):
    """What a user agent says about a view."""

    verdict: agents.Verdict
    is_human: bool
    user_agent: str  # as far as it is read
    stored_user_agent: str
    hashed: str  # what the hash of a visitor uses of it: all of it for people, only the name for AI clients


class _Hashes(NamedTuple):
    """The hashes that are keyed with one secret."""

    of_visitor: Callable[[str], int]
    of_reader: Callable[[str], int]
    of_view: Callable[[str], int]  # half the size of the id, and it reveals nothing once the secret is deleted


class _Traits(NamedTuple):
    """What the views of equal clients have in common."""

    counts: bool
    facts: Facts
    dimensions: Dimensions


class _ViewBuilder:
    """Builds the views of a project. What several of them have in common is found once. See `build_view`."""

    def __init__(self, project: Project, secret: str = "") -> None:
        self._project = project
        self._secret = secret
        self._lasting: _Hashes | None = None  # once they are known, if their secret does not change with time
        self._uses_reader_ids = AnalyticsSettings.for_project(project).first_party_ids
        self._clients: dict[tuple[str, Signer | None], _Client] = {}
        self._traits: dict[tuple[object, ...], _Traits] = {}

    def build(self, observation: Observation) -> View:
        """The view as it is stored."""
        view_id, raw_path, at, address, agent, accept, referrer, private, reader_id, sample, language, own, *_ = (
            observation
        )
        signer = observation.signer
        named = agent, signer
        client = self._clients.get(named) or self._clients.setdefault(named, _describe_client(agent, signer))
        surface = agents.requested_format(raw_path, accept)
        is_private = private and client.is_human
        hashes = (not is_private and self._lasting) or self._find_hashes(at, private=is_private)
        network = network_of(address)
        if self._uses_reader_ids and reader_id and client.is_human and not private:
            visitor = hashes.of_reader(reader_id)
        else:
            visitor = hashes.of_visitor(f"{network}\n{client.hashed}")
        verified = verification.verify(client.verdict.agent, address) if client.verdict.agent else ""
        if signer:
            verified = PageView.Verified.SIGNED
        campaign = raw_path if "utm_" in raw_path else ""
        key = (named, surface, verified, referrer, campaign, language, sample)
        counts, facts, dimensions = self._traits.get(key) or self._traits.setdefault(
            key, self._describe(client, surface, verified, referrer[:_MAX_REFERRER], campaign, language, sample)
        )
        path = self._project.path_of(raw_path.partition("?")[0] if "?" in raw_path else raw_path)
        at_microsecond = (at - EPOCH) // _MICROSECOND
        return View(
            hashes.of_view(view_id), at_microsecond, path, counts, visitor, facts, dimensions, network if own else ""
        )

    def _describe(
        self, client: _Client, surface: str, verified: str, referrer: str, raw_path: str, language: str, sample: bool
    ) -> _Traits:
        verdict = client.verdict
        return _Traits(
            _counts(verdict.client_class, surface),
            Facts(
                *(verdict.client_class, surface, verdict.agent, verdict.operator, verified),
                *(verdict.rule, agents.VERSION, _origin_of(referrer) if referrer else "", client.stored_user_agent),
                sample,
            ),
            describe(self._project, raw_path, referrer, client.user_agent, language, is_human=client.is_human),
        )

    def _find_hashes(self, at: datetime, *, private: bool) -> _Hashes:
        secret = self._secret or key_rotation.secret_of(self._project, at, private=private)
        hashes = _Hashes(*(build_hasher(secret, purpose) for purpose in (b"", b"reader", b"view")))
        if self._secret or key_rotation.is_lasting(self._project, private=private):
            self._lasting = hashes
        return hashes


def _describe_client(agent: str, signer: Signer | None = None) -> _Client:
    verdict = _classify(agent, signer)
    is_human, user_agent = verdict.client_class == "human", agent[: agents.MAX_LENGTH]
    return _Client(
        verdict,
        is_human,
        user_agent,
        "" if is_human else _replace_unprintable(user_agent),
        verdict.agent if verdict.client_class in agents.AI_CLASSES else user_agent,
    )


def _classify(agent: str, signer: Signer | None) -> agents.Verdict:
    verdict = agents.classify(agent)
    return agents.describe_signed(verdict, signer.host, signer.key_id) if signer else verdict


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
