"""Describe a view by its address, referrer, user agent and language."""

import functools
import re
from urllib.parse import parse_qsl

from analytics.audience.channels import OTHER_SITE, channel_of_host, channel_of_name
from analytics.audience.clients import describe_client
from analytics.audience.dimensions import DIRECT, INTERNAL, Dimensions
from docsite.core.http.client_address import parse_address
from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit

_MAX_CACHED = 500  # characters: a client can send thousands of different values
_MAX_VALUE = 80  # characters of a campaign's value
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3})(?=[-_,;\s]|$)")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")


def describe(
    project: Project, raw_path: str, referrer: str, user_agent: str, accept_language: str, *, is_human: bool
) -> Dimensions:
    """The dimensions of a view. Device, browser and language are those of people.

    Agents send a referrer or a campaign only if somebody made them: without one they have no channel.
    """
    utm = _campaign_of(raw_path) if "utm_" in raw_path else ("", "", "")
    channel, source = _origin_of(referrer, project.docs_url, tuple(project.allowed_origins))
    if not source and utm[0] and channel != INTERNAL:
        channel, source = channel_of_name(utm[0]), utm[0] if _HOST.fullmatch(utm[0]) else ""
    elif not channel:
        channel = OTHER_SITE if any(utm) else DIRECT if is_human else ""
    if not is_human:
        return _build(channel, source, *utm)
    return _build(channel, source, *utm, *describe_client(user_agent), _language_of(accept_language))


_build = functools.lru_cache(10_000)(Dimensions)  # equal audiences are one object, which is looked up faster


def _origin_of(referrer: str, docs_url: str, origins: tuple[str, ...]) -> tuple[str, str]:
    """The channel and the host that a referrer stands for. Both are empty if there is no referrer."""
    if not referrer:
        return "", ""
    find = _find_origin if len(referrer) <= _MAX_CACHED else _find_origin.__wrapped__
    return find(referrer, docs_url, origins)


@functools.lru_cache(10_000)
def _find_origin(referrer: str, docs_url: str, origins: tuple[str, ...]) -> tuple[str, str]:
    try:
        parts, docs = urlsplit(referrer), urlsplit(docs_url)
        host = _normalize_host(parts.hostname or "")
    except ValueError:
        return "", ""
    if parts.scheme not in ("http", "https", "android-app") or not host:
        return "", ""
    if host == _normalize_host(docs.hostname or ""):
        folder = docs.path.rstrip("/")
        if not folder or not parts.path or f"{parts.path}/".startswith(f"{folder}/"):
            return INTERNAL, ""
    elif any(host == _normalize_host(urlsplit(origin).hostname or "") for origin in origins):
        return INTERNAL, ""
    if not _HOST.fullmatch(host) or parse_address(host):  # the name of a machine at home or at work
        return OTHER_SITE, ""
    return channel_of_host(host), host[:_MAX_VALUE]


def _normalize_host(host: str) -> str:
    return host.lower().rstrip(".").removeprefix("www.")


def _campaign_of(raw_path: str) -> tuple[str, str, str]:
    """`utm_source`, `utm_medium` and `utm_campaign` of an address."""
    query = raw_path.partition("?")[2].partition("#")[0]
    find = _parse_campaign if len(query) <= _MAX_CACHED else _parse_campaign.__wrapped__
    return find(query)


@functools.lru_cache(10_000)
def _parse_campaign(query: str) -> tuple[str, str, str]:
    try:
        values = dict(reversed(parse_qsl(query, max_num_fields=100)))
    except ValueError:
        return "", "", ""
    source, medium, campaign = (_clean(values.get(f"utm_{name}", "")) for name in ("source", "medium", "campaign"))
    return source, medium, campaign


def _clean(value: str) -> str:
    """A campaign's value in lower case; empty if it may name a person."""
    value = " ".join(value.split()).lower()[:_MAX_VALUE]
    return value if value.isprintable() and "@" not in value else ""


@functools.lru_cache(1_000)
def _language_of(accept_language: str) -> str:
    """The primary tag of the language that a reader likes best: `de` for `de-AT,en;q=0.8`."""
    found = _LANGUAGE.match(accept_language)
    return found[1].lower() if found else ""
