"""How often readers may ask the assistant: by address, then by organization."""

from docsite.core.access.authentication import Caller
from docsite.core.http.client_address import network_of
from docsite.core.http.ratelimit import Limit, LimitCharge

ASSISTANT_IP = Limit("assistant-ip", "limit_assistant_ip", slows_down=True)
ASSISTANT_ORG = Limit("assistant-org", "limit_assistant_org", by_organization=True)


def assistant_charges(caller: Caller) -> list[LimitCharge]:
    """The limits of a question. The address comes first, so that one address cannot use up the organization's limit."""
    return [
        (ASSISTANT_IP, network_of(caller.address)),
        (ASSISTANT_ORG, str(caller.project.organization_id)),
    ]
