"""What the fields of organizations, projects and keys refuse, and the spelling of origins."""

import ipaddress
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from docsite.core.unicode.addresses import urlsplit

RETENTION_DAYS = [MinValueValidator(1), MaxValueValidator(3650)]  # of an app's setting for how long it stores data


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
