"""The proxy in front: what it makes of a request on its way to this service."""

from urllib.parse import urlsplit

import httpx

from docsite.core.components.findings import Finding
from docsite.server.health import reflection

SECONDS = 10.0
_ADVICE = "See the site of nginx in docsite/deploy."


def check_proxy(url: str) -> Finding:
    """Whether the address, the scheme and the host name of a reader arrive when this service is asked at a URL."""
    headers = {reflection.HEADER: reflection.create_token()}
    try:
        response = httpx.get(f"{url.rstrip('/')}/health/live", headers=headers, timeout=SECONDS)
        facts = response.json() if response.status_code == 200 else {}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as failure:
        return Finding("Proxy", f"{url}: {type(failure).__name__}", "Look at the proxy, its certificate and the DNS.")
    if "peer" not in facts:
        fact = f"{url} answers {response.status_code}, and not as this service"
        return Finding("Proxy", fact, "Does the address lead to this service, with the same SECRET_KEY?")
    return _judge(url, facts)


def _judge(url: str, facts: dict[str, str]) -> Finding:
    parts = urlsplit(url)
    if not facts["forwardedFor"]:
        fact, advice = "no X-Forwarded-For arrives", f"Let the proxy send it. {_ADVICE}"
    elif not facts["isTrusted"]:
        fact = f"X-Forwarded-For arrives from {facts['peer']}, which is not trusted"
        advice = f"Set TRUSTED_PROXIES={facts['peer']}: else all readers share that address."
    elif facts["host"].lower() != parts.netloc.lower():
        fact = f"the host {parts.netloc} arrives as {facts['host']}"
        advice = f"Let the proxy pass on Host, with its port. {_ADVICE}"
    elif facts["scheme"] != parts.scheme:
        fact, advice = f"{parts.scheme} arrives as {facts['scheme']}", f"Let it send X-Forwarded-Proto. {_ADVICE}"
    else:
        fact, advice = f"address, host and scheme of a reader arrive through {facts['peer']}", ""
    return Finding("Proxy", fact, advice)
