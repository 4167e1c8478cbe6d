"""An OpenID Connect provider in a process of its own: the app of oidc-provider-mock, made stricter.

It refuses requests without state, nonce and PKCE (S256), wrong verifiers, wrong client secrets, and redirect addresses
on the host `unregistered`. For a subject that begins with the name of a fault, the ID token is one that a client must
refuse. For one that begins with a kind of user info, claims of our own are only there.

`python tests/oidc_provider.py PORT` prints "ready" when it listens.
"""

import base64
import hashlib
import sys
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask import Response, abort, g, request
from joserfc import jwt
from joserfc.jwk import RSAKey
from oidc_provider_mock import app
from werkzeug.serving import make_server

CLIENT_ID, SECRET = "docs-service", "a-secret-of-the-provider"
PAST = 1_700_000_000
FAULTS: dict[str, dict[str, Any]] = {  # claims to replace
    "other-audience": {"aud": "another-client", "azp": CLIENT_ID},
    "other-issuer": {"iss": "https://attacker.example"},
    "other-nonce": {"nonce": "guessed"},
    "expired": {"exp": PAST, "iat": PAST - 60},
    "foreign-key": {},
    "unsigned": {},
    "shared-secret": {},
}
USER_INFO = ("json", "signed", "forged", "other-client", "encrypted", "away")
provider = app(require_nonce=True)
started: dict[str, tuple[str, str]] = {}  # challenge and subject by code


@provider.before_request
def check() -> None:
    """Refuse what a careless client would send."""
    if request.path == "/oauth2/authorize":
        needed = ("state", "nonce", "code_challenge")
        if not all(request.args.get(name) for name in needed) or request.args.get("code_challenge_method") != "S256":
            abort(400, "state, nonce and PKCE are needed")
        if "//unregistered" in request.args["redirect_uri"]:
            abort(400, "redirect address")
    if request.path == "/oauth2/token" and request.form["code"] not in started:
        abort(400 if request.authorization and request.authorization.password == SECRET else 401)
    if request.path == "/oauth2/token":
        verifier = hashlib.sha256(request.form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if challenge != started[request.form["code"]][0]:
            abort(400, "wrong verifier")
        if not request.authorization or request.authorization.password != SECRET:
            abort(401)


@provider.after_request
def change(response: Response) -> Response:
    """Remember challenges, and spoil the tokens of faulty subjects."""
    if request.path == "/oauth2/authorize" and "Location" in response.headers:
        query = parse_qs(urlsplit(response.headers["Location"]).query)
        if "code" in query:
            started[query["code"][0]] = (request.args["code_challenge"], request.form["sub"])
    if request.path == "/oauth2/token" and response.status_code == 200:
        fault = started[request.form["code"]][1].partition(":")[0]
        if fault in FAULTS:
            token = response.get_json()
            response.set_data(provider.json.dumps({**token, "id_token": spoil(token["id_token"], fault)}))
        if fault in USER_INFO:
            token = response.get_json()
            response.set_data(provider.json.dumps({**token, "id_token": leave_out(token["id_token"])}))
    if request.path == "/userinfo" and response.status_code == 200:
        kind = response.get_json()["sub"].partition(":")[0]
        if kind in USER_INFO[1:]:
            text = write_user_info(response.get_json(), kind)
            response = Response(text, 503 if kind == "away" else 200, content_type="application/jwt; charset=utf-8")
    return response


def leave_out(id_token: str) -> str:
    """The token without claims that are not of the specification."""
    key = RSAKey.import_key(g.oidc_provider_mock_storage.jwk.as_pem(True))
    token = jwt.decode(id_token, key)
    own = ("iss", "aud", "sub", "exp", "iat", "auth_time", "nonce", "at_hash", "hasgroups")
    return jwt.encode(token.header, {name: token.claims[name] for name in own if name in token.claims}, key)


def write_user_info(claims: dict[str, Any], kind: str) -> str:
    """User info as a token, or as something that a client must refuse."""
    if kind == "encrypted":
        return "a.b.c.d.e"
    key = RSAKey.import_key(g.oidc_provider_mock_storage.jwk.as_pem(True))
    audience = "another-client" if kind == "other-client" else CLIENT_ID
    signer = RSAKey.generate_key(2048) if kind == "forged" else key
    return jwt.encode({"alg": "RS256"}, {**claims, "iss": request.host_url.rstrip("/"), "aud": audience}, signer)


def spoil(id_token: str, fault: str) -> str:
    """The token with this fault."""
    key = RSAKey.import_key(g.oidc_provider_mock_storage.jwk.as_pem(True))  # a key of Authlib or, newer, of joserfc
    token = jwt.decode(id_token, key)
    claims, header = {**token.claims, **FAULTS[fault]}, token.header
    if fault == "foreign-key":
        key = RSAKey.generate_key(2048)
    if fault == "unsigned":
        head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
        return f"{head}.{id_token.split('.')[1]}."
    if fault == "shared-secret":
        from joserfc.jwk import OctKey

        return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))
    return jwt.encode(header, claims, key)


if __name__ == "__main__":
    import os

    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    server = make_server("127.0.0.1", int(sys.argv[1]), provider, threaded=True)
    print("ready", flush=True)  # noqa: T201
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()
