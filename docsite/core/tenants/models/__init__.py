"""The tables of tenants, one module for each subject. Import the models from here."""

from docsite.core.tenants.models.keys import ApiKey, ReaderKey, digest
from docsite.core.tenants.models.limits import Counter, LimitUse
from docsite.core.tenants.models.organizations import Invitation, Membership, Organization, Role
from docsite.core.tenants.models.projects import Project

__all__ = [
    "ApiKey",
    "Counter",
    "Invitation",
    "LimitUse",
    "Membership",
    "Organization",
    "Project",
    "ReaderKey",
    "Role",
    "digest",
]
