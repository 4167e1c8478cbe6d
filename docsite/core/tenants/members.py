"""Rules about the members of an organization: there is always an owner, and a link makes a member once."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from docsite.core.tenants.models import Invitation, Membership, Organization, Role, digest

INVITATION_LIFETIME = timedelta(days=7)
MAX_INVITATIONS = 50  # of an organization that wait at once


class MembershipError(ValueError):
    """The change is not possible. The message is a sentence."""


def invite(
    organization: Organization, role: Role, email: str, inviter: AbstractBaseUser | AnonymousUser
) -> tuple[Invitation, str]:
    """Store an invitation. Returns it with its token, which is never shown again."""
    if list_open(organization).count() >= MAX_INVITATIONS:
        raise MembershipError(f"At most {MAX_INVITATIONS} invitations can wait. Withdraw one first.")
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        organization=organization,
        role=role,
        email=email,
        digest=digest(token),
        invited_by_id=inviter.pk,
        expires_at=timezone.now() + INVITATION_LIFETIME,
    )
    return invitation, token


def list_open(organization: Organization) -> "QuerySet[Invitation]":
    """The invitations that nobody has accepted, expired ones included."""
    return Invitation.objects.filter(organization=organization).select_related("invited_by")


def find_invitation(token: str) -> Invitation | None:
    """The invitation of a link, unless it has expired, was withdrawn or was accepted."""
    found = Invitation.objects.select_related("organization")
    return found.filter(digest=digest(token), expires_at__gt=timezone.now()).first()


def accept(token: str, user: AbstractBaseUser) -> Membership:
    """Make the user a member, and use up the invitation. A member keeps the higher of both roles."""
    with transaction.atomic():
        invitation = Invitation.objects.select_for_update().filter(digest=digest(token)).first()
        if invitation is None or invitation.expires_at <= timezone.now():
            raise MembershipError("This invitation has expired, or somebody has used it.")
        member, is_new = Membership.objects.get_or_create(
            organization_id=invitation.organization_id, user_id=user.pk, defaults={"role": invitation.role}
        )
        if not is_new and Role(member.role).rank < Role(invitation.role).rank:
            member.role, member.is_from_groups = invitation.role, False
            member.save(update_fields=["role", "is_from_groups"])
        invitation.delete()
    return member


def change_role(member: Membership, role: Role) -> None:
    """Give a member another role. Raises MembershipError for the last owner."""
    with transaction.atomic():
        _check_owner_stays(member, role)
        member.role = role
        member.save(update_fields=["role"])


def remove(member: Membership) -> None:
    """End a membership. Raises MembershipError for the last owner."""
    with transaction.atomic():
        _check_owner_stays(member, None)
        member.delete()


def _check_owner_stays(member: Membership, role: Role | None) -> None:
    """Lock the organization, so that two owners cannot leave at once, and look for another owner."""
    Organization.objects.select_for_update().get(pk=member.organization_id)
    owners = Membership.objects.filter(organization=member.organization_id, role=Role.OWNER, user__is_active=True)
    if role != Role.OWNER and member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists():
        raise MembershipError("An organization needs an owner. Make somebody else an owner first.")
