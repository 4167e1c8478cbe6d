"""How often readers may send support requests: by address, then by organization."""

from docsite.core.http.ratelimit import Limit

SUPPORT_IP = Limit("support-ip", "limit_support_ip", fail_open=True)
SUPPORT_ORG = Limit(
    "support-org", "200/h", "Requests to a person in one organization", fail_open=True, by_organization=True
)
