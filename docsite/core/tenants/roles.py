"""What members of an organization may open and change in the admin.

Each address of the admin that belongs to a project has a rule: the role that reads it (GET) and the role that acts
(POST). An address without a rule is for owners, so that a forgotten rule hides a page instead of opening it.
`docsite.core.tenants.staff.project_of` enforces the rules, `docsite.core.workspace.scoped_admin` those of lists.
"""

from dataclasses import dataclass

from django.http import HttpRequest

from docsite.core.tenants.log_in_rules import find_memberships
from docsite.core.tenants.models import Role

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Rule:
    """The least role that reads an address, and the least role that acts there."""

    reads: Role = Role.OWNER
    acts: Role = Role.OWNER


_rules: dict[str, Rule] = {}


def add_rule(name: str, *, reads: Role = Role.OWNER, acts: Role = Role.OWNER) -> None:
    """Set the rule of the address with this name in the admin, such as `analytics_visitors`."""
    _rules[name] = Rule(reads, acts)


def find_rule(name: str) -> Rule:
    """The rule of an address of the admin. Without one: owners only."""
    return _rules.get(name, Rule())


def list_roles_from(role: Role) -> list[Role]:
    """This role and the roles that may do more."""
    return [other for other in Role if other.rank >= role.rank]


def find_role(request: HttpRequest, organization_id: int) -> Role | None:
    """The role of the user in an organization; None for a stranger. Superusers are owners everywhere."""
    if request.user.is_superuser:
        return Role.OWNER
    return _load_roles(request).get(organization_id)


def has_role(request: HttpRequest, organization_id: int, role: Role) -> bool:
    """Whether the user has at least this role in an organization."""
    own = find_role(request, organization_id)
    return own is not None and own.rank >= role.rank


def has_role_anywhere(request: HttpRequest, role: Role) -> bool:
    """Whether the user has at least this role in one organization."""
    return request.user.is_superuser or any(own.rank >= role.rank for own in _load_roles(request).values())


def _load_roles(request: HttpRequest) -> dict[int, Role]:
    """The user's roles in the organizations that the session opens. They are read once for a request."""
    roles: dict[int, Role] | None = getattr(request, "_roles", None)
    if roles is None:
        rows = find_memberships(request).values_list("organization_id", "role")
        roles = {organization: Role(role) for organization, role in rows}
        request._roles = roles  # type: ignore[attr-defined]
    return roles
