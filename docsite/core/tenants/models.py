"""Tenants: organizations, their members, their documentation projects and their API keys."""

import functools
import hashlib
import ipaddress
import re
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from docsite.core import ids
from docsite.core.paths import normalize, within
from docsite.core.redaction import redact

RETENTION_DAYS = [MinValueValidator(1), MaxValueValidator(3650)]  # of an app's setting for how long it stores data
DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IN_PATH = "/-._~!$&'*+,;=:@"
_IN_ADDRESS = f"{_IN_PATH}?#%"  # of a text that is an address already
_IN_FRAGMENT = "-._~!$&'*+,;=:@/?"  # no brackets: addresses stand inside Markdown links


def origin_of(url: str) -> str:
    """The origin of a web address, as browsers write it: scheme, host and port. Raises ValueError for anything else."""
    parts = urlsplit(url.strip().lower())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address such as https://docs.example.com")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in (None, default) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def validate_docs_url(url: str) -> None:
    """Refuse an address with another scheme, a user, a query or a fragment."""
    try:
        origin_of(url)
    except ValueError as wrong:
        raise ValidationError(f"{str(wrong)[:1].upper()}{str(wrong)[1:]}.") from None
    parts = urlsplit(url)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValidationError("Must have no user, query or fragment.")


def validate_origins(origins: Any) -> None:
    """Refuse anything but a list of origins, each in its canonical spelling."""
    if not isinstance(origins, list):
        raise ValidationError("Must be a list.")
    for origin in origins:
        try:
            canonical = origin_of(str(origin))
        except ValueError as wrong:
            raise ValidationError(f"{str(origin)[:100]}: {wrong}.") from None
        if canonical != origin:
            raise ValidationError(f"{str(origin)[:100]}: write it as {canonical}.")


def validate_networks(networks: Any) -> None:
    """Refuse anything but a list of CIDR ranges, and ranges that together allow every address."""
    if not isinstance(networks, list):
        raise ValidationError("Must be a list.")
    ranges: dict[int, list[Any]] = {4: [], 6: []}
    for text in networks:
        try:
            network = ipaddress.ip_network(str(text), strict=False)
        except ValueError:
            raise ValidationError(f"{str(text)[:100]}: not a CIDR range such as 203.0.113.0/24.") from None
        if isinstance(network, ipaddress.IPv6Network) and network.network_address.ipv4_mapped:
            raise ValidationError(f"{text}: write it as an IPv4 range.")
        ranges[network.version].append(network)
    if any(
        network.prefixlen == 0
        for same_version in ranges.values()
        for network in ipaddress.collapse_addresses(same_version)
    ):
        raise ValidationError("Together these ranges allow every address; leave the list empty instead.")


class Organization(models.Model):
    """A tenant. Admin keys and rate limits belong to it."""

    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    requires_single_sign_on = models.BooleanField(
        default=False, db_default=False, help_text="Members open it only after single sign-on, not by password."
    )
    requires_second_factor = models.BooleanField(
        "requires two-factor log-in",
        default=False,
        db_default=False,
        help_text="Who logs in by password opens it only with a code, too.",
    )

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a member of an organization may do. Each role may do what the role before it may."""

    VIEWER = "viewer", "Viewer: reads reports"
    WRITER = "writer", "Writer: works on content, gaps and feedback"
    OWNER = "owner", "Owner: manages keys, people and settings, and erases data"

    @property
    def rank(self) -> int:
        """A role of a higher rank may do more."""
        return list(Role).index(self)


class Membership(models.Model):
    """A staff user's access to an organization. Superusers need none."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.OWNER, db_default=Role.OWNER.value)
    is_from_groups = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="Each single sign-on sets it by the user's groups."
    )

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["organization", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization}"


class Invitation(models.Model):
    """A link that makes somebody a member of an organization, once. Only the digest of its token is stored."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    email = models.EmailField("e-mail address", blank=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return f"number {self.pk} as {self.role}"  # without the e-mail address, which the audit must not hold


class Project(models.Model):
    """One documentation site of an organization."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="projects")
    project_id = models.CharField("project ID", max_length=40, unique=True, default=ids.project_id, editable=False)
    domain = models.CharField(
        max_length=63,
        unique=True,
        validators=[RegexValidator(rf"^{DOMAIN.pattern}\Z", "Use lower-case letters, digits and inner hyphens.")],
        help_text="Names the project in API paths.",
    )
    name = models.CharField(max_length=200)
    docs_url = models.URLField(
        "docs URL", validators=[validate_docs_url], help_text="Where the documentation is published."
    )
    allowed_origins = models.JSONField(
        default=list,
        blank=True,
        validators=[validate_origins],
        help_text="Other origins whose pages may use the widget and the browser endpoints.",
    )
    redact_personal_data = models.BooleanField(
        "redact personal data",
        default=False,
        db_default=False,
        help_text="Before questions, searches and comments are stored, e-mail and IP addresses, keys, card numbers "
        "and IBANs in them are replaced by words such as [e-mail].",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["domain"]

    def __str__(self) -> str:
        return self.domain

    def get_absolute_url(self) -> str:
        """The API keys page of the project in the admin. Its last segment is the domain."""
        return f"/admin/projects/project/of/{self.domain}"

    @property
    def origins(self) -> frozenset[str]:
        """Every origin whose pages may call this project: that of the docs URL, and the allowed ones."""
        return frozenset([origin_of(self.docs_url), *self.allowed_origins])

    def url_of(self, path: str, anchor: str = "", address: str = "") -> str:
        """The public address of a page, or of a section of it.

        `address`: where the site shows the page if that differs from its path; absolute, or relative to the docs URL.
        An address that already has a fragment, as on a single-page site, keeps it.
        """
        is_absolute = address.startswith(("https://", "http://"))
        place = address if is_absolute else f"/{address.lstrip('/')}" if address else path
        page = ("" if is_absolute else self.docs_url.rstrip("/")) + quote(
            place, safe=_IN_ADDRESS if address else _IN_PATH
        )
        return f"{page}#{quote(anchor, safe=_IN_FRAGMENT)}" if anchor and "#" not in page else page

    def link_of(self, path: str, anchor: str = "", address: str = "") -> str:
        """The address relative to the docs URL, as in links on the site; absolute for a page outside of it."""
        url, base = self.url_of(path, anchor, address), self.docs_url.rstrip("/")
        return url[len(base) :] if url.startswith(f"{base}/") else url

    def redact(self, text: str) -> str:
        """A reader's text as the project stores it: without personal data, if the owner has chosen that."""
        return redact(text) if self.redact_personal_data else text

    def path_of(self, raw: str) -> str:
        """The path of the page at an address, normalized; relative to the folder of the docs URL, if it is below."""
        path_of = _path_of if len(raw) <= _MAX_CACHED else _path_of.__wrapped__
        return path_of(raw, self.docs_url)


_MAX_CACHED = 500  # characters of an address: a reader can send 20,000 different ones


@functools.lru_cache(20_000)
def _path_of(raw: str, docs_url: str) -> str:
    return within(normalize(raw), normalize(docs_url))


class ApiKey(models.Model):
    """A credential: an organization's (admin) or one project's (assistant).

    It is looked up by its SHA-256 digest. A fast hash is enough: the token has 166 random bits, so no dictionary
    attack works. Of an admin key, only the digest is stored. An assistant key stands in the pages of a public site,
    so its token is stored, too, and the admin can show its embed tag at any time.
    """

    class Kind(models.TextChoices):
        """What a key gives access to."""

        ADMIN = "admin", "Admin: analytics of the organization. Secret, for servers only."
        ASSISTANT = "assistant", "Assistant: questions and searches of one project. Public, for browsers."

    PREFIX: ClassVar = {Kind.ADMIN: "svc_", Kind.ASSISTANT: "svc_dsc_"}

    kind = models.CharField(max_length=10, choices=Kind.choices)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="keys")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="keys", null=True, blank=True)
    name = models.CharField(max_length=100, blank=True)
    hint = models.CharField(max_length=20, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    public_token = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Of assistant keys. Empty for keys that an earlier release created.",
    )
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
                name="assistant_keys_have_a_project",
                condition=models.Q(kind="admin", project__isnull=True)
                | models.Q(kind="assistant", project__isnull=False),
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
            project=project if kind == cls.Kind.ASSISTANT else None,
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
    """SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


class Counter(models.Model):
    """The count of one rate-limit window. `docsite.core.http.counters` writes it in plain SQL."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.BigIntegerField()
    expires_at = models.FloatField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"


class LimitUse(models.Model):
    """How much of a limit was used in an hour. `docsite.core.http.limit_use` writes it in plain SQL."""

    limit_name = models.CharField(max_length=40)
    organization_id = models.BigIntegerField(help_text="0: of the whole service.")
    hour = models.PositiveIntegerField(help_text="Hours since 1970.")
    most = models.PositiveBigIntegerField(help_text="The most that one caller had used at the end of a request.")
    refused = models.PositiveBigIntegerField(default=0, help_text="Requests that were refused.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["limit_name", "organization_id", "hour"], name="one_limit_use_an_hour")
        ]
        indexes: ClassVar = [models.Index(fields=["hour"], name="limit_uses_by_hour")]

    def __str__(self) -> str:
        return f"{self.limit_name}: {self.most}"
