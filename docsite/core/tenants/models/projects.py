"""Projects, and the addresses of their pages."""

import functools
import re
from datetime import UTC, tzinfo
from typing import Any, ClassVar
from urllib.parse import quote

from django.core.validators import RegexValidator
from django.db import models, transaction

from docsite.core import ids
from docsite.core.http.dates import find_zone, list_zones
from docsite.core.paths import normalize, within
from docsite.core.redaction import redact
from docsite.core.tenants.models.organizations import Organization
from docsite.core.tenants.validators import origin_of, validate_docs_url, validate_origins

_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_IN_PATH = "/-._~!$&'*+,;=:@"
_IN_ADDRESS = f"{_IN_PATH}?#%"  # of a text that is an address already
_IN_FRAGMENT = "-._~!$&'*+,;=:@/?"  # no brackets: addresses stand inside Markdown links


class Project(models.Model):
    """A documentation site. It belongs to an organization, and has its own pages, keys, settings and counts."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="projects")
    project_id = models.CharField("project ID", max_length=40, unique=True, default=ids.project_id, editable=False)
    domain = models.CharField(
        max_length=63,
        unique=True,
        validators=[
            RegexValidator(
                rf"^{_DOMAIN.pattern}\Z", "Use lower-case letters, digits, and hyphens and dots between them."
            )
        ],
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
    time_zone = models.CharField(
        max_length=64,
        choices=list_zones,
        default="UTC",
        db_default="UTC",
        help_text="Days and weeks of reports, files and e-mail begin at midnight of this zone.",
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

    @transaction.atomic
    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the project and all its rows. Who adds a row at the same time waits, and gets an IntegrityError."""
        list(Project.objects.select_for_update().filter(pk=self.pk))
        return super().delete(*args, **kwargs)

    @property
    def zone(self) -> tzinfo:
        """The time zone of its days; UTC where the machine does not know the zone."""
        return find_zone(self.time_zone) or UTC

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
        place = address if is_absolute else f"/{(address or path).lstrip('/')}"
        page = ("" if is_absolute else self.docs_url.rstrip("/")) + _quote(place, _IN_ADDRESS if address else _IN_PATH)
        return f"{page}#{_quote(anchor, _IN_FRAGMENT)}" if anchor and "#" not in page else page

    def link_of(self, path: str, anchor: str = "", address: str = "") -> str:
        """The address relative to the docs URL, as in links on the site; absolute for a page outside of it."""
        return self.shorten(self.url_of(path, anchor, address))

    def shorten(self, url: str) -> str:
        """A public address relative to the docs URL, if it is below."""
        base = self.docs_url.rstrip("/")
        return url[len(base) :] if url.startswith(f"{base}/") else url

    def redact(self, text: str) -> str:
        """A reader's text as the project stores it: without personal data, if the owner has chosen that."""
        return redact(text) if self.redact_personal_data else text

    def path_of(self, raw: str) -> str:
        """The path of the page at an address, normalized; relative to the folder of the docs URL, if it is below."""
        path_of = _path_of if len(raw) <= _MAX_CACHED else _path_of.__wrapped__
        return path_of(raw, self.docs_url)


@functools.lru_cache(10_000)
def _quote(text: str, safe: str) -> str:
    """A path or an anchor of a page as addresses have it. One question builds some fifty addresses."""
    return quote(text, safe=safe)


_MAX_CACHED = 500  # characters of an address: a reader can send 20,000 different ones


@functools.lru_cache(20_000)
def _path_of(raw: str, docs_url: str) -> str:
    return within(normalize(raw), normalize(docs_url))
