"""Keys: API keys of organizations and projects, and the keys that sign tokens of a project's readers."""

import hashlib
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from docsite.core import ids
from docsite.core.tenants.models.organizations import Organization
from docsite.core.tenants.models.projects import Project
from docsite.core.tenants.validators import validate_networks


class ApiKey(models.Model):
    """An API key. An admin key is for all projects of an organization, an assistant or collecting key for one project.

    It is looked up by its SHA-256 digest. A fast hash is enough: the token has 166 random bits, so no dictionary
    attack works. Of a secret key, only the digest is stored. An assistant key stands in the pages of a public site,
    so its token is stored, too, and the admin can show its embed tag at any time.
    """

    class Kind(models.TextChoices):
        """What a key gives access to."""

        ADMIN = "admin", "Admin: analytics of the organization. Secret, for servers only."
        ASSISTANT = "assistant", "Assistant: questions and searches of one project. Public, for browsers."
        COLLECTING = "collecting", "Collecting: adds views of agents to one project. Secret, for an edge worker."

    PREFIX: ClassVar = {Kind.ADMIN: "svc_", Kind.ASSISTANT: "svc_dsc_", Kind.COLLECTING: "svc_col_"}

    kind = models.CharField(max_length=10, choices=Kind.choices)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="keys")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="keys", null=True, blank=True)
    name = models.CharField(max_length=100, blank=True)
    hint = models.CharField(max_length=20, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    public_token = models.CharField(max_length=64, blank=True, editable=False, help_text="Of assistant keys.")
    scopes = models.JSONField(default=list, blank=True, help_text='Of admin keys: "read", "write"; none means all.')
    networks = models.JSONField(
        default=list,
        blank=True,
        validators=[validate_networks],
        help_text="CIDR ranges the key may be used from.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="Exact to about ten minutes.")

    class Meta:
        ordering: ClassVar = ["-created_at"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="keys_of_a_project_name_it",
                condition=models.Q(kind="admin", project__isnull=True)
                | models.Q(kind__in=["assistant", "collecting"], project__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.hint}…"

    @classmethod
    def issue(
        cls,
        kind: "ApiKey.Kind",
        organization: Organization,
        project: Project | None = None,
        *,
        name: str = "",
        expires_at: datetime | None = None,
        scopes: list[str] | None = None,
        networks: list[str] | None = None,
    ) -> tuple["ApiKey", str]:
        """Create a key and return it with its token. Without `expires_at` it never expires."""
        token = ids.token(cls.PREFIX[kind])
        key = cls.objects.create(
            kind=kind,
            organization=organization,
            project=None if kind == cls.Kind.ADMIN else project,
            name=name,
            hint=token[: len(cls.PREFIX[kind]) + 4],
            digest=digest(token),
            public_token=token if kind == cls.Kind.ASSISTANT else "",
            scopes=scopes or [],
            networks=networks or [],
            expires_at=expires_at,
        )
        return key, token

    def revoke(self) -> None:
        """Revoke the key forever. Every process refuses it within two seconds."""
        self.revoked_at = timezone.now()
        self.save(update_fields=["revoked_at"])

    def is_live(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class ReaderKey(models.Model):
    """A key with which the site of a project signs tokens for its readers (`docsite.core.access.reader_tokens`).

    Of EdDSA keys, the owner's public key is stored. The secret of an HS256 key is not: it is derived from `salt` and
    the SECRET_KEY of the service, so a copy of the database holds none.
    """

    class Algorithm(models.TextChoices):
        """How a key signs. A token with another algorithm than its key's is refused."""

        HS256 = "HS256", "HS256: a secret, which the service makes and shows once"
        EDDSA = "EdDSA", "EdDSA: a key pair of yours, whose public key the service stores"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reader_keys")
    kid = models.CharField("key ID", max_length=24, unique=True, default=ids.reader_key_id, editable=False)
    algorithm = models.CharField(max_length=5, choices=Algorithm.choices)
    name = models.CharField(max_length=100, blank=True, help_text="Helps you to recognize the key.")
    salt = models.CharField(max_length=64, default=ids.salt, editable=False)
    public_key = models.TextField(blank=True, editable=False, help_text="Of EdDSA keys, in PEM.")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return self.kid

    @property
    def secret(self) -> str:
        """The secret of an HS256 key: 64 hexadecimal digits, used as text."""
        return salted_hmac("docsite.reader-key", f"{self.kid}:{self.salt}", algorithm="sha256").hexdigest()

    @property
    def verification_key(self) -> str:
        """What its tokens are checked with."""
        return self.secret if self.algorithm == self.Algorithm.HS256 else self.public_key

    def revoke(self) -> None:
        """Revoke the key forever. Every process refuses its tokens within two seconds."""
        self.revoked_at = timezone.now()
        self.save(update_fields=["revoked_at"])


def digest(token: str) -> str:
    """SHA-256 of a token, in hexadecimal. A fast hash is enough: a token has 192 random bits at least."""
    return hashlib.sha256(token.encode()).hexdigest()
