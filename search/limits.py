"""Rate limits: how often an address, and all readers of an organization, may search and read pages."""

from docsite.core.access.authentication import Caller
from docsite.core.http.client_address import network_of
from docsite.core.http.ratelimit import Charge, Limit

SEARCH_IP = Limit("search-ip", "limit_search_ip", fail_open=True, slows_down=True)
SEARCH_ORG = Limit("search-org", "limit_search_org", fail_open=True, by_organization=True)


def search_charges(caller: Caller) -> list[Charge]:
    """What a search or a page costs. The address comes first, so that it cannot use up the organization's limit."""
    return [
        (SEARCH_IP, network_of(caller.address)),
        (SEARCH_ORG, str(caller.project.organization_id)),
    ]
