"""The list of what a project does not count: addresses of its own people, and sites that send no readers."""

import functools
import ipaddress
import re
from contextlib import suppress
from typing import NamedTuple

from django.core.exceptions import ValidationError

from docsite.core.http.client_address import Address

MAX_ENTRIES = 500
_HOST = re.compile(r"(?:[\w-]{1,63}\.){1,10}(?!\d+\Z)[\w-]{2,63}")  # no part of an address


class LeftOut(NamedTuple):
    """The networks and the hosts of a list. A host stands for those below it, too."""

    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    def has_address(self, address: Address) -> bool:
        """Whether the project counts no views from this IP address."""
        return any(address in network for network in self.networks)

    def has_referrer(self, referrer: str) -> bool:
        """Whether the project counts no views with this referrer, the URL of a page on another site."""
        if not self.hosts:
            return False
        host = referrer.partition("://")[2].split("/", 1)[0].rpartition("@")[2].partition(":")[0].lower().rstrip(".")
        labels = host.split(".")
        return any(".".join(labels[at:]) in self.hosts for at in range(len(labels)))


@functools.lru_cache(1_000)
def parse(text: str) -> LeftOut:
    """Parse a list with an entry a line. Raises ValidationError with a sentence for a line that is neither."""
    networks, hosts = [], []
    for line in text.lower().split():
        try:
            network = ipaddress.ip_network(line, strict=False)
        except ValueError:
            host = line.partition("://")[2].partition("/")[0] if "://" in line else line.removeprefix("*.")
            with suppress(UnicodeError):  # of a label that is too long
                if _HOST.fullmatch(host):
                    hosts.append(host.encode("idna").decode())
                    continue
            raise ValidationError(f"{line[:100]}: write an address, a network or the name of a site.") from None
        if not network.prefixlen:
            raise ValidationError(f"{line}: would leave out every reader.")
        networks.append(network)
    if len(networks) + len(hosts) > MAX_ENTRIES:
        raise ValidationError(f"At most {MAX_ENTRIES} entries.")
    return LeftOut(tuple(networks), frozenset(hosts))


def validate(text: str) -> None:
    """Refuse a list that cannot be parsed."""
    parse(text)
