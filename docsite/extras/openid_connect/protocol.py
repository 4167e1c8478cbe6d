"""The way to the provider and back, by OpenID Connect.

Authlib makes state, nonce and PKCE (S256), and checks the signature, expiry and nonce of the ID token. This module adds
what Authlib leaves to its users: where the state is kept, the audience, the issuer, and which algorithms may sign.
"""

from functools import lru_cache
from ssl import SSLContext
from typing import Any, Self

import httpx
from authlib.integrations.base_client import BaseApp, FrameworkIntegration, OAuth2Mixin, OAuthError, OpenIDMixin
from authlib.oauth2.client import OAuth2Client
from django.http import HttpRequest, HttpResponseRedirect
from joserfc.errors import JoseError

from docsite.core.sign_on.provider import Claims, ProviderError, get_name
from docsite.extras.openid_connect import settings

TIMEOUT_SECONDS = 10
LEEWAY_SECONDS = 60  # by which the clocks of provider and service may differ
MAX_GROUPS = 10_000  # in one query
MAX_SUBJECT = 255  # characters, by the specification
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
# The provider is away, or sends something else than the specification says.
_FAILURES = (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError, KeyError, RuntimeError)
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class _Session(OAuth2Client):  # type: ignore[misc]  # Authlib has no types
    """Requests to the provider with httpx, which follows no redirect: that could take the client's secret elsewhere.

    Authlib's own client takes httpx2 where some other package has installed it.
    """

    oauth_error_class = OAuthError

    def __init__(self, verify: SSLContext, **metadata: Any) -> None:
        session = httpx.Client(timeout=TIMEOUT_SECONDS, verify=verify)
        super().__init__(session=session, **metadata)
        self.headers = session.headers

    def request(self, method: str, url: str, withhold_token: bool = False) -> httpx.Response:
        """The response. The access token goes along unless it is withheld."""
        headers = {} if withhold_token else {"Authorization": f"Bearer {self.token['access_token']}"}
        response: httpx.Response = self.session.request(method, url, headers=headers)
        return response

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.session.close()


class _Client(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]
    client_cls = _Session


def redirect(request: HttpRequest, back: str, max_age: int | None = None) -> HttpResponseRedirect:
    """Send the browser to the provider, which sends it to `back`. Raises ProviderError if the provider is away.

    If the person logged in at the provider more than `max_age` seconds ago, the provider must ask again.
    """
    client = _client()
    try:
        _load_metadata(client)
        begun = client.create_authorization_url(back, **({} if max_age is None else {"max_age": max_age}))
    except _FAILURES as failure:
        raise ProviderError(f"{get_name()} does not answer as it should. Try again later.", 502) from failure
    client.framework.set_state_data(request.session, begun["state"], {"redirect_uri": back, **begun})
    return HttpResponseRedirect(begun["url"])


def finish(request: HttpRequest) -> Claims:
    """Take the browser back from the provider, and check everything. Raises ProviderError."""
    client, env = _client(), settings.read()
    state = request.GET.get("state")
    begun = client.framework.get_state_data(request.session, state)
    if begun is None:
        raise ProviderError("This log-in was begun in another browser, or too long ago. Try again.", 400)
    client.framework.clear_state_data(request.session, state)
    try:
        if "error" in request.GET:
            raise OAuthError(request.GET["error"])
        metadata = _load_metadata(client)
        expected = {
            "iss": {"essential": True, "value": metadata["issuer"]},
            "aud": {"essential": True, "value": env.oidc_client_id},
        }
        token = client.fetch_access_token(
            begun["redirect_uri"],
            code=request.GET.get("code", ""),
            state=state,
            code_verifier=begun["code_verifier"],
            auth=(env.oidc_client_id, env.oidc_client_secret),
        )
        claims = dict(client.parse_id_token(token, begun["nonce"], claims_options=expected, leeway=LEEWAY_SECONDS))
        if env.oidc_group_claim not in claims and metadata.get("userinfo_endpoint"):
            more = client.userinfo(token=token)
            if more["sub"] == claims["sub"]:
                claims = {**more, **claims}
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT:
            raise ValueError("The subject is not a text of up to 255 characters.")
    except OAuthError as failure:
        raise ProviderError(f"{get_name()} refused the log-in.", 403) from failure
    except JoseError as failure:
        raise ProviderError(f"{get_name()} sent a log-in that is not valid for this service.", 403) from failure
    except _FAILURES as failure:
        raise ProviderError(f"{get_name()} does not answer as it should. Try again later.", 502) from failure
    overage = _find_overage(claims)
    groups = None if overage else _find_groups(claims)
    at = claims.get("auth_time")  # which a provider must send if it was asked for `max_age`
    return Claims(
        metadata["issuer"], subject, _find_name(claims), groups, overage, at if isinstance(at, int | float) else 0
    )


def _client() -> Any:
    env = settings.read()
    return _build_client(env.oidc_issuer, env.oidc_client_id, env.oidc_client_secret, env.oidc_scopes)


@lru_cache(maxsize=4)
def _build_client(issuer: str, client_id: str, secret: str, scopes: str) -> Any:
    """A client, which keeps the provider's metadata and keys. It reads the keys again when a new one is used."""
    return _Client(
        FrameworkIntegration("provider"),  # keeps the state of a log-in in the session of the browser
        "provider",
        client_id=client_id,
        client_secret=secret,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": scopes,
            "code_challenge_method": "S256",
            "verify": httpx.create_ssl_context(),  # once: to read the certificates of all authorities takes 40 ms
        },
    )


def _load_metadata(client: Any) -> dict[str, Any]:
    """The provider's description of itself. Raises ValueError if it is that of another, or not safe."""
    metadata: dict[str, Any] = client.load_server_metadata()
    issuer = settings.read().oidc_issuer
    scheme = issuer.partition(":")[0]
    is_own = str(metadata.get("issuer")).rstrip("/") == issuer.rstrip("/")
    if not is_own or not all(str(metadata.get(name)).startswith((f"{scheme}://", "https://")) for name in _ENDPOINTS):
        client.server_metadata.clear()
        raise ValueError("The description is of another issuer, or names an address without encryption.")
    signs_with = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    allowed = [name for name in signs_with if name in ALGORITHMS]
    if not allowed:
        raise ValueError("The provider signs with no algorithm that is accepted.")
    metadata["id_token_signing_alg_values_supported"] = allowed
    return metadata


def _find_name(claims: dict[str, Any]) -> str:
    """A name to display, of at most 100 characters."""
    found = (claims.get(key) for key in ("preferred_username", "email", "name", "sub"))
    return next(str(name).strip()[:100] for name in found if name and str(name).strip())


def _find_groups(claims: dict[str, Any]) -> list[str]:
    """The person's groups. Without the claim: none, since many providers leave out an empty list."""
    found = claims.get(settings.read().oidc_group_claim)
    groups = found[:MAX_GROUPS] if isinstance(found, list) else [found]
    return sorted({group for group in groups if isinstance(group, str)})


def _find_overage(claims: dict[str, Any]) -> str:
    """The claim that says that the person has groups which are not listed. Empty if they are listed, or there are none.

    `_claim_names` leads to another place for a claim (OpenID Connect Core §5.6.2). Microsoft Entra ID sends it, or
    `hasgroups`, instead of more than 200 groups.
    """
    name = settings.read().oidc_group_claim
    elsewhere = claims.get("_claim_names")
    if name in claims:
        return ""
    if isinstance(elsewhere, dict) and name in elsewhere:
        return f"_claim_names.{name}"
    return "hasgroups" if name == "groups" and claims.get("hasgroups") in (True, "true") else ""
