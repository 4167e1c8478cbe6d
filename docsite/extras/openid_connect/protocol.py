"""The way to the provider and back, by OpenID Connect.

Authlib makes state, nonce and PKCE (S256), and checks the signature, expiry and nonce of the ID token. This module adds
what Authlib leaves to its users: where the state is kept, the audience, the issuer, which algorithms may sign, and user
info that is signed.
"""

from functools import lru_cache
from ssl import SSLContext
from typing import Any, Self

import httpx
from authlib.integrations.base_client import BaseApp, FrameworkIntegration, OAuth2Mixin, OAuthError, OpenIDMixin
from authlib.oauth2.client import OAuth2Client
from django.http import HttpRequest, HttpResponseRedirect
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from docsite.core.sign_on.provider import Claims, ProviderError, get_name
from docsite.extras.openid_connect import claims as claims_of
from docsite.extras.openid_connect import settings

TIMEOUT_SECONDS = 10
LEEWAY_SECONDS = 60  # by which the clocks of provider and service may differ
MAX_SUBJECT = 255  # characters, by the specification
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
UNREACHABLE = "{} cannot be reached at the moment. Try again in a few minutes, or log in with a password."
FAULTY = "{} does not answer as it should. The operator of this service finds the reason in its log."
MAX_CAUSE = 300  # characters of a line of the log
# The provider is away, or sends something else than the specification says.
FAILURES = (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError, KeyError, RuntimeError)
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
ENCRYPTED_DOTS = 4  # in a token that is encrypted (RFC 7516 §3.1)


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
    client = connect()
    try:
        load_metadata(client)
        begun = client.create_authorization_url(back, **({} if max_age is None else {"max_age": max_age}))
    except FAILURES as failure:
        raise _report(failure) from failure
    client.framework.set_state_data(request.session, begun["state"], {"redirect_uri": back, **begun})
    return HttpResponseRedirect(begun["url"])


def finish(request: HttpRequest) -> Claims:
    """Take the browser back from the provider, and check everything. Raises ProviderError."""
    client, env = connect(), settings.read()
    state = request.GET.get("state")
    begun = client.framework.get_state_data(request.session, state)
    if begun is None:
        raise ProviderError("This log-in was begun in another browser, or too long ago. Try again.", 400)
    client.framework.clear_state_data(request.session, state)
    try:
        if "error" in request.GET:
            raise OAuthError(request.GET["error"])
        metadata = load_metadata(client)
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
        own = dict(client.parse_id_token(token, begun["nonce"], claims_options=expected, leeway=LEEWAY_SECONDS))
        claims, group_claim = own, claims_of.find_claim(own, env.oidc_group_claim)
        if group_claim is claims_of.MISSING and metadata.get("userinfo_endpoint"):
            more = _load_user_info(client, token, metadata)
            if more.get("sub") == own["sub"]:
                claims, group_claim = {**more, **own}, claims_of.find_claim(more, env.oidc_group_claim)
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT:
            raise ValueError("The subject is not a text of up to 255 characters.")
    except OAuthError as failure:
        raise ProviderError(f"{get_name()} refused the log-in.", 403, describe(failure)) from failure
    except JoseError as failure:
        sentence = f"{get_name()} sent a log-in that is not valid for this service."
        raise ProviderError(sentence, 403, describe(failure)) from failure
    except FAILURES as failure:
        raise _report(failure) from failure
    overage, missing = "", ""
    if group_claim is claims_of.MISSING:
        overage = claims_of.find_overage(claims, env.oidc_group_claim)
        missing = claims_of.describe_missing(claims, env.oidc_group_claim)
    at = claims.get("auth_time")  # which a provider must send if it was asked for `max_age`
    return Claims(
        metadata["issuer"],
        subject,
        claims_of.find_name(claims),
        None if overage else claims_of.read_groups(group_claim),
        overage,
        at if isinstance(at, int | float) else 0,
        missing,
    )


def _load_user_info(client: Any, token: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """The user info of a person, in JSON or as a signed token (OpenID Connect Core §5.3.2)."""
    response = client.get(metadata["userinfo_endpoint"], token=token)
    response.raise_for_status()
    text = response.text.strip()
    if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/jwt":
        claims = response.json()
    elif text.count(".") == ENCRYPTED_DOTS:
        raise ValueError("the user info is encrypted; have the provider sign it only, or send it as JSON")
    else:
        claims = _decode(client, text)
        issuer, audience = metadata["issuer"], settings.read().oidc_client_id
        known = jwt.JWTClaimsRegistry(leeway=LEEWAY_SECONDS, iss={"value": issuer}, aud={"value": audience})
        known.validate(claims)
    if not isinstance(claims, dict):
        raise ValueError("the user info is no object")
    return claims


def _decode(client: Any, text: str) -> dict[str, Any]:
    """The claims of a signed token. The keys are read again when a new one is used."""
    registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
    try:
        return jwt.decode(text, KeySet.import_key_set(client.fetch_jwk_set()), registry=registry).claims
    except InvalidKeyIdError:
        return jwt.decode(text, KeySet.import_key_set(client.fetch_jwk_set(force=True)), registry=registry).claims


def _report(failure: Exception) -> ProviderError:
    """The provider is away, or at fault: a sentence for people, and the cause for the log."""
    is_away = isinstance(failure, httpx.TransportError) or (
        isinstance(failure, httpx.HTTPStatusError) and failure.response.is_server_error
    )
    return ProviderError((UNREACHABLE if is_away else FAULTY).format(get_name()), 503, describe(failure))


def describe(failure: Exception) -> str:
    """What went wrong, in a line without secrets: of an address neither query nor user."""
    what = f"{type(failure).__name__}: {failure}"
    if isinstance(failure, httpx.HTTPStatusError):
        what = f"it answers {failure.response.status_code}"
    where = ""
    if isinstance(failure, httpx.HTTPError) and failure._request is not None:
        url = failure.request.url
        where = f"{failure.request.method} {url.scheme}://{url.netloc.decode()}{url.path}: "
    return "".join(char if char.isprintable() else " " for char in where + what)[:MAX_CAUSE]


def connect() -> Any:
    """The client of the provider in the settings."""
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


def load_metadata(client: Any) -> dict[str, Any]:
    """The provider's description of itself. Raises ValueError if it is that of another, or not safe."""
    metadata: dict[str, Any] = client.load_server_metadata()
    issuer = settings.read().oidc_issuer
    scheme = issuer.partition(":")[0]
    needed = [*_ENDPOINTS, *(["userinfo_endpoint"] if metadata.get("userinfo_endpoint") else [])]
    unsafe = [name for name in needed if not str(metadata.get(name)).startswith((f"{scheme}://", "https://"))]
    if str(metadata.get("issuer")).rstrip("/") != issuer.rstrip("/"):
        wrong = f"the description is of another issuer, {metadata.get('issuer')}, than OIDC_ISSUER, {issuer}"
    elif unsafe:
        wrong = f"the description has no {unsafe[0]}, or one without encryption"
    else:
        wrong = ""
    if wrong:
        client.server_metadata.clear()
        raise ValueError(wrong)
    signs_with = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    allowed = [name for name in signs_with if name in ALGORITHMS]
    if not allowed:
        raise ValueError(f"the provider signs with {', '.join(signs_with)}, and none of these is accepted")
    metadata["id_token_signing_alg_values_supported"] = allowed
    return metadata
