"""How often an organization may read its analytics and send batches of views, and an address send feedback."""

from docsite.core.access.authentication import Caller
from docsite.core.http.ratelimit import Limit, LimitCharge

ANALYTICS_ORG = Limit("analytics", "limit_analytics_org", fail_open=True, by_organization=True)
FEEDBACK_IP = Limit("feedback-ip", "limit_feedback_ip", fail_open=True)
COLLECT_ORG = Limit("collect-org", "limit_collect_org", fail_open=True, by_organization=True)


def analytics_charges(caller: Caller) -> list[LimitCharge]:
    """What a report costs: all of them count against one limit."""
    return [(ANALYTICS_ORG, str(caller.project.organization_id))]


def collect_charges(caller: Caller) -> list[LimitCharge]:
    """What a batch of views costs, whatever its size."""
    return [(COLLECT_ORG, str(caller.project.organization_id))]
