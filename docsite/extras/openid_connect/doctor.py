"""What of single sign-on does not work, for `manage.py doctor`: issuer, keys, the secret and the redirect address."""

from typing import Any

import httpx
from django.conf import settings as django_settings
from django.urls import reverse

from docsite.core.components import Finding
from docsite.extras.openid_connect import protocol, settings

SUBJECT = "Single sign-on"
_LOCAL = {"127.0.0.1", "localhost", "[::1]", "testserver"}
_NO_SUCH_CODE = "no-such-code"  # with it the provider tells a wrong secret (invalid_client) from a right one
_WRONG_CLIENT = ("invalid_client", "unauthorized_client")


def check_provider() -> Finding:
    """Whether people can log in at the provider, as far as requests without a person can tell."""
    issuer = settings.read().oidc_issuer
    try:
        client = protocol.connect()
        metadata = protocol.load_metadata(client)
        keys = client.fetch_jwk_set().get("keys")
        if not keys:
            advice = "Look at the keys of the provider: without one no log-in can be checked."
            return Finding(SUBJECT, f"{metadata['jwks_uri']} lists no key", advice)
        back = find_redirect_address()
        wrong = _try_secret(metadata, back) or _try_redirect_address(client, back)
    except protocol.FAILURES as failure:
        advice = f"Open {issuer.rstrip('/')}/.well-known/openid-configuration from this host; see OIDC_ISSUER."
        return Finding(SUBJECT, protocol.describe(failure), advice)
    if wrong:
        return Finding(SUBJECT, *wrong)
    return Finding(SUBJECT, f"{issuer} answers with {len(keys)} keys, and takes OIDC_CLIENT_ID and {back}")


def find_redirect_address() -> str:
    """The address to which the provider leads back, on the first public host of ALLOWED_HOSTS."""
    hosts = [host for host in django_settings.ALLOWED_HOSTS if host not in _LOCAL and not host.startswith((".", "*"))]
    scheme = "https" if django_settings.ENV.https_only else "http"
    host = hosts[0] if hosts else f"127.0.0.1:{django_settings.ENV.port}"
    return f"{scheme}://{host}{django_settings.BASE_PATHS.get(host.lower(), '')}{reverse('single_sign_on_callback')}"


def _try_secret(metadata: dict[str, Any], back: str) -> tuple[str, str] | None:
    """What is wrong with the client's name or secret, and what to do."""
    own = settings.read()
    fields = {
        "grant_type": "authorization_code",
        "code": _NO_SUCH_CODE,
        "redirect_uri": back,
        "code_verifier": "x" * 43,
    }
    auth = (own.oidc_client_id, own.oidc_client_secret)
    response = httpx.post(metadata["token_endpoint"], data=fields, auth=auth, timeout=protocol.TIMEOUT_SECONDS)
    code = _read_error(response)
    if response.status_code == httpx.codes.UNAUTHORIZED or code in _WRONG_CLIENT:
        advice = "Compare OIDC_CLIENT_ID and OIDC_CLIENT_SECRET with the provider; a secret may have expired."
        return f"the provider does not take this service's name and secret ({code or response.status_code})", advice
    return _find_obstacle(response, "name and secret")


def _try_redirect_address(client: Any, back: str) -> tuple[str, str] | None:
    """What is wrong with the redirect address, and what to do. Providers say so in an error page, not by a redirect."""
    begun = client.create_authorization_url(back)
    response = httpx.get(begun["url"], timeout=protocol.TIMEOUT_SECONDS)
    if obstacle := _find_obstacle(response, "redirect address"):
        return obstacle
    is_refused = response.is_client_error or "AADSTS50011" in response.text
    if is_refused or "error=" in response.headers.get("Location", ""):
        advice = (
            f"Register {back} at the provider as a redirect address, or put the public host first in ALLOWED_HOSTS."
        )
        return f"the provider refuses to lead back to {back} ({response.status_code})", advice
    return None


def _find_obstacle(response: httpx.Response, subject: str) -> tuple[str, str] | None:
    """What kept the provider from an answer, and what to do."""
    if response.status_code in (httpx.codes.FORBIDDEN, httpx.codes.TOO_MANY_REQUESTS) or response.is_server_error:
        fact = f"the {subject} could not be tried: the provider answers {response.status_code}"
        return fact, "Run this again in a while, or log in with a browser."
    return None


def _read_error(response: httpx.Response) -> str:
    try:
        found = response.json().get("error", "")
    except (ValueError, AttributeError):
        return ""
    return str(found)[:60]
