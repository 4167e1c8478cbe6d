"""Tenants: organizations, their members, their documentation projects and their API keys."""

import functools
import hashlib
import ipaddress
import re
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from docsite.core import ids
from docsite.core.paths import normalize, within

DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
NEW_KEYS_PER_HOUR = 10
_IN_PATH = "/-._~!$&'*+,;=:@"
_IN_ADDRESS = f"{_IN_PATH}?#%"  # which is written as an address already
_IN_FRAGMENT = "-._~!$&'*+,;=:@/?"  # no brackets: addresses stand inside Markdown links


def origin_of(url: str) -> str:
    """Scheme, host and port of a web address, as browsers write an Origin. Raises ValueError when it is none."""
    parts = urlsplit(url.strip().lower())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address such as https://docs.example.com")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in (None, default) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def validate_docs_url(url: str) -> None:
    """Refuse an address that pages cannot have: another scheme, a user, a query or a fragment."""
    try:
        origin_of(url)
    except ValueError as wrong:
        raise ValidationError(f"{str(wrong)[:1].upper()}{str(wrong)[1:]}.") from None
    parts = urlsplit(url)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValidationError("Must hold no user, query or fragment.")


def validate_origins(origins: Any) -> None:
    """Refuse anything but a list of origins in their canonical spelling."""
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
    """Refuse anything but a list of CIDR ranges, and ranges that would let everybody in."""
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
    if any(network.prefixlen == 0 for known in ranges.values() for network in ipaddress.collapse_addresses(known)):
        raise ValidationError("Together these ranges allow every address; leave the list empty instead.")


class Organization(models.Model):
    """A tenant. Admin keys and rate limits belong to it."""

    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A staff user's access to an organization. Superusers need none."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["organization", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization}"


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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["domain"]

    def __str__(self) -> str:
        return self.domain

    def get_absolute_url(self) -> str:
        """The project's page in the admin; its last segment is the domain."""
        return f"/admin/projects/project/of/{self.domain}"

    @property
    def origins(self) -> frozenset[str]:
        """Every origin whose pages may speak to this project: the documentation's own and the listed ones."""
        return frozenset([origin_of(self.docs_url), *self.allowed_origins])

    def url_of(self, path: str, anchor: str = "", address: str = "") -> str:
        """The public address of a page of this project, with the section's anchor.

        `address` is where the site shows the page if that is not its path: absolute, or from the docs URL on. One that
        has a fragment already, as on a site that is a single page, keeps it.
        """
        is_absolute = address.startswith(("https://", "http://"))
        place = address if is_absolute else f"/{address.lstrip('/')}" if address else path
        page = ("" if is_absolute else self.docs_url.rstrip("/")) + quote(
            place, safe=_IN_ADDRESS if address else _IN_PATH
        )
        return f"{page}#{quote(anchor, safe=_IN_FRAGMENT)}" if anchor and "#" not in page else page

    def link_of(self, path: str, anchor: str = "", address: str = "") -> str:
        """The same as links on the site have it, from the docs URL on; absolute where the page is elsewhere."""
        url, base = self.url_of(path, anchor, address), self.docs_url.rstrip("/")
        return url[len(base) :] if url.startswith(f"{base}/") else url

    def path_of(self, raw: str) -> str:
        """The path of the page at an address: normalized, and below the folder of the docs URL as seen from there."""
        return _path_of(raw, self.docs_url)


@functools.lru_cache(20_000)
def _path_of(raw: str, docs_url: str) -> str:
    return within(normalize(raw), normalize(docs_url))


class ApiKey(models.Model):
    """A credential: an organization's (admin) or one project's (assistant). Only its SHA-256 digest is stored.

    A fast hash is enough: the secret carries 166 random bits, so there is no
    dictionary to search, and the look-up stays one indexed read.
    """

    class Kind(models.TextChoices):
        """What a key opens."""

        ADMIN = "admin", "Admin: analytics of the organization. Secret, for servers only."
        ASSISTANT = "assistant", "Assistant: questions and searches of one project. Public, for browsers."

    PREFIX: ClassVar = {Kind.ADMIN: "svc_", Kind.ASSISTANT: "svc_dsc_"}

    kind = models.CharField(max_length=10, choices=Kind.choices)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="keys")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="keys", null=True, blank=True)
    name = models.CharField(max_length=100, blank=True)
    hint = models.CharField(max_length=20, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
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
        days: int | None = None,
        scopes: list[str] | None = None,
        networks: list[str] | None = None,
    ) -> tuple["ApiKey", str]:
        """Create a key and return it with its token, which is never shown again. `days` None: no expiry."""
        token = ids.token(cls.PREFIX[kind])
        key = cls.objects.create(
            kind=kind,
            organization=organization,
            project=project if kind == cls.Kind.ASSISTANT else None,
            name=name,
            hint=token[: len(cls.PREFIX[kind]) + 4],
            digest=digest(token),
            scopes=scopes or [],
            networks=networks or [],
            expires_at=timezone.now() + timedelta(days=days) if days else None,
        )
        return key, token

    def revoke(self) -> None:
        """Close the key for good. Every process follows within seconds."""
        self.revoked_at = timezone.now()
        self.save(update_fields=["revoked_at"])

    def is_live(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


def digest(token: str) -> str:
    """SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


class Counter(models.Model):
    """A running rate-limit window. Written by `docsite.core.http.counters` in plain SQL."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.BigIntegerField()
    expires_at = models.FloatField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"
