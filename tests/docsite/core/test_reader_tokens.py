"""The tokens of readers: which are taken, and what the others are told."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from docsite.core.access import authentication
from docsite.core.access.reader_tokens import MAX_LENGTH, ReaderTokenRefused, find_groups
from docsite.core.access.readers import MAX_GROUPS, PUBLIC
from docsite.core.tenants.models import ReaderKey
from tests.conftest import assert_error


@pytest.fixture
def key(make_project: Any) -> ReaderKey:
    return ReaderKey.objects.create(project=make_project().project, algorithm="HS256")


def sign(key: ReaderKey, secret: Any = None, algorithm: str = "", header: Any = None, **claims: Any) -> str:
    payload = {"aud": key.project.domain, "exp": int(time.time()) + 600, "groups": ["staff"], **claims}
    return jwt.encode(
        {name: value for name, value in payload.items() if value is not None},
        secret or key.secret,
        algorithm or key.algorithm,
        headers=header if header is not None else {"kid": key.kid},
    )


def refusal(key: ReaderKey, token: str) -> str:
    with pytest.raises(ReaderTokenRefused) as refused:
        find_groups(key.project, token)
    assert refused.value.status == 401
    return refused.value.sentence


@pytest.mark.parametrize("token", [None, ""])
def test_a_reader_without_a_token_has_no_groups(key: ReaderKey, token: Any) -> None:
    assert find_groups(key.project, token) == PUBLIC


def test_groups_are_compared_without_case_and_spaces(key: ReaderKey) -> None:
    assert find_groups(key.project, sign(key, groups=[" Staff", "DOCS TEAM", "staff"])) == {"staff", "docs team"}


@pytest.mark.parametrize(
    "claims", [{"groups": None}, {"groups": []}, {"sub": "u1"}, {"iss": "https://acme.example", "jti": "1", "iat": 1}]
)
def test_other_claims_may_be_there_and_groups_may_be_missing(key: ReaderKey, claims: dict[str, Any]) -> None:
    expected = PUBLIC if "groups" in claims else {"staff"}
    assert find_groups(key.project, sign(key, **claims)) == expected


def test_a_single_key_needs_no_kid_and_several_do(key: ReaderKey) -> None:
    token = sign(key, header={})
    assert find_groups(key.project, token) == {"staff"}
    ReaderKey.objects.create(project=key.project, algorithm="HS256")
    authentication.ttl_cache.clear()
    assert "`kid` must be in its header" in refusal(key, token)
    assert find_groups(key.project, sign(key)) == {"staff"}


NOW = time.time()


@pytest.mark.parametrize(
    ("claims", "fault"),
    [
        ({"exp": NOW - 60}, "has expired"),
        ({"exp": None}, "lacks the claim `exp`"),
        ({"exp": NOW + 25 * 3600}, "must end within 24 hours: `exp` is later"),
        ({"exp": "soon"}, "is not a JWT with the claims that it needs"),
        ({"exp": 1e300}, "must end within 24 hours: `exp` is later"),
        ({"exp": str(int(NOW) + 7200)}, "must end within 24 hours: `exp` is later"),
        ({"exp": float("inf")}, "is not a JWT with the claims that it needs"),
        ({"nbf": NOW + 6 * 3600}, "is not valid yet: compare the clocks"),
        ({"aud": None}, "lacks the claim `aud`"),
        ({"aud": "another"}, "is not for this project: `aud` must be its domain"),
        ({"sub": 7}, "is not a JWT with the claims that it needs"),
        ({"sub": "x" * 256}, "has a `sub` that is not a text of at most 255 characters"),
        ({"groups": "staff"}, f"has `groups` that are not a list of at most {MAX_GROUPS} texts"),
        ({"groups": [1]}, f"has `groups` that are not a list of at most {MAX_GROUPS} texts"),
        ({"groups": ["a"] * (MAX_GROUPS + 1)}, f"has `groups` that are not a list of at most {MAX_GROUPS} texts"),
        ({"groups": ["a,b"]}, "has a group that is not 1 to 64 printable characters without a comma"),
        ({"groups": ["a\nb"]}, "has a group that is not 1 to 64 printable characters without a comma"),
        ({"groups": [" "]}, "has a group that is not 1 to 64 printable characters without a comma"),
        ({"groups": ["x" * 65]}, "has a group that is not 1 to 64 printable characters without a comma"),
    ],
)
def test_wrong_claims_are_named(key: ReaderKey, claims: dict[str, Any], fault: str) -> None:
    assert refusal(key, sign(key, **claims)) == f"The reader token {fault}."


def test_a_small_difference_of_clocks_is_no_fault(key: ReaderKey) -> None:
    assert find_groups(key.project, sign(key, exp=time.time() - 10, nbf=time.time() - 600)) == {"staff"}
    assert find_groups(key.project, sign(key, nbf=time.time() + 10)) == {"staff"}


def test_signatures_and_algorithms_of_others_are_refused(key: ReaderKey) -> None:
    assert refusal(key, sign(key, secret="x" * 64)) == "The reader token has a wrong signature."
    assert refusal(key, sign(key, algorithm="HS512")) == "The reader token has another algorithm than its key."
    head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": key.kid}).encode()).decode().rstrip("=")
    body = sign(key).split(".")[1]
    assert refusal(key, f"{head}.{body}.") == "The reader token has another algorithm than its key."
    assert (
        refusal(key, sign(key, header={"kid": "rdk_x"})) == "The reader token is not signed with a key of this project."
    )


@pytest.mark.parametrize("token", ["x", "a.b.c", "é", "..", "x" * (MAX_LENGTH + 1), "e30.e30.e30", "bnVsbA.bnVsbA.AA"])
def test_what_is_no_jwt_is_refused(key: ReaderKey, token: str) -> None:
    assert refusal(key, token).startswith("The reader token ")


def test_a_key_of_another_project_does_not_count(key: ReaderKey, make_project: Any) -> None:
    other = ReaderKey.objects.create(project=make_project().project, algorithm="HS256")
    assert "not signed with a key of this project" in refusal(key, sign(other, aud=key.project.domain))


def test_a_revoked_key_is_refused(key: ReaderKey) -> None:
    token = sign(key)
    assert find_groups(key.project, token) == {"staff"}
    key.revoke()
    authentication.ttl_cache.clear()
    assert "not signed with a key of this project" in refusal(key, token)


def test_eddsa_tokens_are_checked_with_the_public_key(make_project: Any) -> None:
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    key = ReaderKey.objects.create(
        project=make_project().project, algorithm=ReaderKey.Algorithm.EDDSA, public_key=public.decode()
    )
    assert find_groups(key.project, sign(key, secret=private)) == {"staff"}
    assert refusal(key, sign(key, secret=Ed25519PrivateKey.generate())) == "The reader token has a wrong signature."
    # The public key is no secret of HS256, which would be a forged token (CVE-2022-29217).
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256", "kid": key.kid}, {"aud": key.project.domain, "exp": int(time.time()) + 60})
    )
    mac = hmac.new(public, f"{head}.{body}".encode(), hashlib.sha256).digest()
    forged = f"{head}.{body}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"
    assert refusal(key, forged) == "The reader token has another algorithm than its key."


def test_the_database_holds_no_secret(key: ReaderKey) -> None:
    row = ReaderKey.objects.filter(pk=key.pk).values().get()
    assert key.secret not in str(row)
    assert len(key.secret) == 64
    assert ReaderKey.objects.create(project=key.project, algorithm="HS256").secret != key.secret


def test_endpoints_refuse_a_wrong_token_and_allow_the_header_to_other_origins(http, service, project) -> None:
    headers = {**project.assistant, "X-Reader-Token": "x"}
    address = f"{service.url}/discovery/v1/search/{project.domain}"
    response = http.post(address, json={"query": "labels"}, headers=headers)
    assert assert_error(response, 401)["error"] == "The reader token is not a JWT with the claims that it needs."
    assert response.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    origin = {"Origin": "https://docs.acme.example", "Access-Control-Request-Method": "POST"}
    allowed = http.options(address, headers=origin).headers["Access-Control-Allow-Headers"]
    assert "X-Reader-Token" in allowed.split(", ")
