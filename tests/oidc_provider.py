"""An OpenID Connect provider in a process of its own: the app of oidc-provider-mock, made stricter.

It refuses requests without state, nonce and PKCE (S256), wrong verifiers and wrong client secrets. For a subject that
begins with the name of a fault, the ID token is one that a client must refuse.

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
provider = app(require_nonce=True)
started: dict[str, tuple[str, str]] = {}  # challenge and subject by code


@provider.before_request
def check() -> None:
    """Refuse what a careless client would send."""
    if request.path == "/oauth2/authorize":
        needed = ("state", "nonce", "code_challenge")
        if not all(request.args.get(name) for name in needed) or request.args.get("code_challenge_method") != "S256":
            abort(400, "state, nonce and PKCE are needed")
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
    return response


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
