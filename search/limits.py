"""Rate limits: how often readers may search and read pages, and how often an organization may push."""

from docsite.core.access.authentication import Caller
from docsite.core.http.client_address import network_of
from docsite.core.http.ratelimit import Limit, LimitCharge

SEARCH_IP = Limit("search-ip", "limit_search_ip", fail_open=True, slows_down=True)
SEARCH_ORG = Limit("search-org", "limit_search_org", fail_open=True, by_organization=True)
PUSH_ORG = Limit("push", "limit_push_org", fail_open=True, by_organization=True)


def search_charges(caller: Caller) -> list[LimitCharge]:
    """What a search or a page costs. The address comes first, so that it cannot use up the organization's limit."""
    return [
        (SEARCH_IP, network_of(caller.address)),
        (SEARCH_ORG, str(caller.project.organization_id)),
    ]


def push_charges(caller: Caller) -> list[LimitCharge]:
    """What a request about pushed sources costs: all of them count against one limit."""
    return [(PUSH_ORG, str(caller.project.organization_id))]
