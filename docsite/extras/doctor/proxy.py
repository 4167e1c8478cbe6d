"""The proxy in front: what it makes of a request on its way to this service."""

from typing import Any

import httpx

from docsite.core.components import Finding
from docsite.core.http.client_address import parse_hop
from docsite.core.unicode.addresses import urlsplit
from docsite.server.health import reflection

SECONDS = 10.0
READERS = ("192.0.2.44", "2001:db8::44")  # addresses of documentation, which nobody has
_ADVICE = "See the site of nginx in docsite/deploy."


def check_proxy(url: str) -> Finding:
    """Whether two readers at a URL of this service arrive as two, and with the scheme and the host name of the URL."""
    try:
        answers = [_ask(url, reader) for reader in READERS]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as failure:
        return Finding("Proxy", f"{url}: {type(failure).__name__}", "Look at the proxy, its certificate and the DNS.")
    for response, facts in answers:
        if "peer" not in facts:
            fact = f"{url} answers {response.status_code}, and not as this service"
            return Finding("Proxy", fact, "Does the address lead to this service, with the same SECRET_KEY?")
    (_, first), (_, second) = answers
    fact, advice = _judge_addresses(first, second) or _judge_request(url, first)
    return Finding("Proxy", fact, advice)


def _ask(url: str, reader: str) -> tuple[httpx.Response, dict[str, Any]]:
    """Ask the service as if a proxy before its proxies had forwarded a reader. Returns how the request arrived."""
    headers = {reflection.HEADER: reflection.create_token(), "X-Forwarded-For": reader}
    response = httpx.get(f"{url.rstrip('/')}/health/live", headers=headers, timeout=SECONDS)
    return response, response.json() if response.status_code == 200 else {}


def _judge_addresses(first: dict[str, Any], second: dict[str, Any]) -> tuple[str, str] | None:
    """Why two readers would not arrive as two, and what to do. None if they do."""
    peer, header = first["peer"], first["forwardedFor"]
    if not header:
        return "no X-Forwarded-For arrives", f"Let the proxy send it. {_ADVICE}"
    if not first["isTrusted"]:
        advice = f"Set TRUSTED_PROXIES={peer}: else all readers share that address."
        return f"X-Forwarded-For arrives from {peer}, which is not trusted", advice
    if (header, second["forwardedFor"]) == READERS:
        advice = f"Let it add the address of its client: else a reader escapes limits by another one. {_ADVICE}"
        return f"{peer} passes on X-Forwarded-For as a reader writes it", advice
    if not first["client"]:
        advice = f"Let the proxy send it: views of such readers do not count, and they share limits. {_ADVICE}"
        return f"X-Forwarded-For arrives as “{header}”, which does not end with an address", advice
    if (first["client"], second["client"]) != READERS and first["client"] != _find_sender(header):
        advice = f"Add it to TRUSTED_PROXIES if it is a proxy: else all readers share that address. {_ADVICE}"
        return f"X-Forwarded-For arrives as “{header}”, and {first['client']} is taken for the reader", advice
    return None


def _find_sender(header: str) -> str:
    """The address of this host, as the first proxy saw it: what follows our own value, if that has arrived."""
    hops = [hop for hop in header.split(",") if hop.strip()]
    return str(parse_hop(hops[1 if len(hops) > 1 and hops[0].strip() in READERS else 0]))


def _judge_request(url: str, facts: dict[str, Any]) -> tuple[str, str]:
    """Whether the rest of a request arrives as well, and what to do if not."""
    parts = urlsplit(url)
    if facts["host"].lower() != parts.netloc.lower():
        advice = f"Let the proxy pass on Host, with its port. {_ADVICE}"
        return f"the host {parts.netloc} arrives as {facts['host']}", advice
    if facts["scheme"] != parts.scheme:
        return f"{parts.scheme} arrives as {facts['scheme']}", f"Let it send X-Forwarded-Proto. {_ADVICE}"
    seen = "two readers arrive as two" if facts["client"] in READERS else f"this host arrives as {facts['client']}"
    return f"address, host and scheme of a reader arrive through {facts['peer']} ({seen})", ""
