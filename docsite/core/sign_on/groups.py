"""Roles by the provider's groups. Each single sign-on applies them; roles that a person gave stay as they are."""

import logging
from contextlib import suppress

from django.contrib.auth.models import AbstractBaseUser

from docsite.core.sign_on.models import GroupRole
from docsite.core.sign_on.provider import Claims
from docsite.core.signals import log_in_changed
from docsite.core.tenants import members
from docsite.core.tenants.members import MembershipError
from docsite.core.tenants.models import Membership, Role

logger = logging.getLogger(__name__)


def find_roles(groups: list[str]) -> dict[int, Role]:
    """The highest role of these groups in each organization, by its primary key."""
    roles: dict[int, Role] = {}
    rows = GroupRole.objects.filter(group__in=groups).values_list("organization_id", "role")
    for organization, role in sorted(rows, key=lambda row: Role(row[1]).rank):
        roles[organization] = Role(role)
    return roles


def sync_roles(user: AbstractBaseUser, claims: Claims) -> None:
    """Give the user the roles of the groups, and take those of groups that the user has left.

    The last owner of an organization stays its owner. Groups that are not known change nothing: the log and
    the audit name the claim for which the roles stay.
    """
    if claims.groups is None:
        logger.warning("The provider listed no groups (%s): the roles of %s stay.", claims.overage, user)
        log_in_changed.send(__name__, user=user, action="roles by group kept", details={"claim": claims.overage})
        return
    roles = find_roles(claims.groups)
    own = {member.organization_id: member for member in Membership.objects.filter(user=user.pk)}
    for organization, role in roles.items():
        member = own.get(organization)
        if member is None:
            Membership.objects.get_or_create(
                organization_id=organization, user_id=user.pk, defaults={"role": role, "is_from_groups": True}
            )
        elif member.is_from_groups and member.role != role:
            with suppress(MembershipError):
                members.change_role(member, role)
    for organization, member in own.items():
        if member.is_from_groups and organization not in roles:
            with suppress(MembershipError):
                members.remove(member)
