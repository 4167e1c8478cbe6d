"""The page "Reader keys": keys for the tokens of readers are created, shown once and revoked."""

import re
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from docsite.core.access import authentication
from docsite.core.access.reader_tokens import ReaderTokenRefused, find_groups
from docsite.core.tenants.models import ReaderKey
from docsite.privacy.models import AuditEntry
from tests.variants import first_of


@pytest.fixture
def address(project: Any) -> str:
    return f"/admin/project/{project.domain}/readers"


def pem(key: Any) -> str:
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def test_an_owner_creates_a_secret_that_is_shown_once_and_signs_tokens(people: Any, project: Any, address: str) -> None:
    created = people.owner.post(address, {"algorithm": "HS256", "name": "our site"})
    assert created.status_code == 200
    assert "no-store" in created["Cache-Control"]
    secret = re.search(r"<code>([0-9a-f]{64})</code>", created.content.decode())[1]
    key = ReaderKey.objects.get(project=project.project)
    claims = {"aud": project.domain, "exp": time.time() + 60, "groups": ["staff"]}
    token = jwt.encode(claims, secret, "HS256", headers={"kid": key.kid})
    assert find_groups(project.project, token) == {"staff"}
    again = people.teammate.get(address).content.decode()
    assert key.kid in again
    assert "our site" in again
    assert secret not in again
    revoked = people.teammate.post(address, {"revoke": key.pk}, follow=True).content.decode()
    assert f"Key {key.kid} is revoked." in revoked
    authentication.ttl_cache.clear()
    with pytest.raises(ReaderTokenRefused):
        find_groups(project.project, token)
    entries = AuditEntry.objects.filter(project=project.domain, action__startswith="reader key").order_by("pk")
    assert [entry.action for entry in entries] == ["reader key created", "reader key revoked"]
    assert secret not in str([entry.details for entry in entries])


def test_a_stranger_finds_nothing(people: Any, project: Any, address: str) -> None:
    key = ReaderKey.objects.create(project=project.project, algorithm="HS256")
    assert people.stranger.get(address).status_code == 404
    assert people.stranger.post(address, {"algorithm": "HS256"}).status_code == 404
    assert people.stranger.post(address, {"revoke": key.pk}).status_code == 404
    assert list(ReaderKey.objects.filter(project=project.project)) == [key]


def test_a_key_of_another_project_is_not_revoked(people: Any, project: Any, address: str, make_project: Any) -> None:
    other = ReaderKey.objects.create(project=make_project().project, algorithm="HS256")
    for value in (other.pk, "x", "9" * 30):
        assert people.owner.post(address, {"revoke": value}).status_code == 302
    other.refresh_from_db()
    assert other.revoked_at is None


def test_a_public_key_is_stored_and_no_secret_is_shown(people: Any, project: Any, address: str) -> None:
    private = ed25519.Ed25519PrivateKey.generate()
    response = people.owner.post(address, {"algorithm": "EdDSA", "public_key": f"\r\n{pem(private)}\r\n"})
    assert response.status_code == 200
    assert not re.search(r"[0-9a-f]{64}", response.content.decode())
    key = ReaderKey.objects.get(project=project.project)
    assert key.public_key == pem(private)
    claims = {"aud": project.domain, "exp": time.time() + 60, "groups": ["staff"]}
    assert find_groups(project.project, jwt.encode(claims, private, "EdDSA")) == {"staff"}


@pytest.mark.parametrize(
    ("fields", "error"),
    first_of(
        [
            ({"algorithm": "EdDSA"}, "Paste your public key."),
            ({"algorithm": "EdDSA", "public_key": "x"}, "This is not an Ed25519 public key"),
            ({"algorithm": "EdDSA", "public_key": "RSA"}, "This is not an Ed25519 public key"),
            ({"algorithm": "EdDSA", "public_key": "PRIVATE"}, "This is not an Ed25519 public key"),
            ({"algorithm": "HS256", "public_key": "x"}, "An HS256 key has no public key."),
            ({"algorithm": "none"}, "Select a valid choice"),
            ({"algorithm": "EdDSA", "public_key": "x" * 3000}, "at most 2000 characters"),
        ],
        1,
    ),
)
def test_wrong_keys_get_a_sentence(people: Any, project: Any, address: str, fields: Any, error: str) -> None:
    if fields.get("public_key") == "RSA":
        fields = {**fields, "public_key": pem(rsa.generate_private_key(65537, 2048))}
    if fields.get("public_key") == "PRIVATE":
        private = ed25519.Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        fields = {**fields, "public_key": private.decode()}
    response = people.owner.post(address, fields)
    assert response.status_code == 400
    assert error in response.content.decode()
    assert not ReaderKey.objects.filter(project=project.project).exists()


def test_a_project_has_a_limited_number_of_keys(people: Any, project: Any, address: str) -> None:
    for _ in range(20):
        ReaderKey.objects.create(project=project.project, algorithm="HS256")
    response = people.owner.post(address, {"algorithm": "HS256"})
    assert "A project has at most 20 keys" in response.content.decode()
    assert ReaderKey.objects.filter(project=project.project).count() == 20
