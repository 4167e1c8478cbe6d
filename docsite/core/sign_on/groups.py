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

_MAX_SHOWN = 20  # groups in a line of the log


def find_roles(groups: list[str]) -> dict[int, Role]:
    """The highest role of these groups in each organization, by its primary key.

    A provider may write the path of a group with a slash before it or not: Keycloak does so by a setting.
    """
    own = {group.strip("/") for group in groups}
    roles: dict[int, Role] = {}
    rows = GroupRole.objects.values_list("organization_id", "role", "group")  # few; the groups may be thousands
    for organization, role, group in sorted(rows, key=lambda row: Role(row[1]).rank):
        if group.strip("/") in own:
            roles[organization] = Role(role)
    return roles


def explain_no_role(claims: Claims) -> str:
    """Why the person has no role by a group, for the log."""
    if not claims.groups:
        return claims.missing or claims.overage or "the provider lists no group"
    names = ["".join(one if one.isprintable() else " " for one in name[:100]) for name in claims.groups[:_MAX_SHOWN]]
    shown = ", ".join(names) + (" and others" if len(claims.groups) > _MAX_SHOWN else "")
    return f"none of the person's {len(claims.groups)} groups has a role: {shown}"


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
    memberships = Membership.objects.filter(user=user.pk).select_related("organization")
    own = {member.organization_id: member for member in memberships}
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
                reason = explain_no_role(claims)
                logger.warning("%s loses the role by group in %s: %s.", user, member.organization, reason)
