"""Rate limits: how often an organization's projects may be searched and their pages read."""

from docsite.core.access.authentication import Caller
from docsite.core.http.ratelimit import Charge, Limit

SEARCH_ORG = Limit("search-org", "limit_search_org", fail_open=True)


def search_charges(caller: Caller) -> list[Charge]:
    """What a search or a page costs: both count against one limit."""
    return [(SEARCH_ORG, str(caller.project.organization_id))]
