"""Finds the people of an organization in the other database, by identity or name, and creates who is missing."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from docsite.core.sign_on.models import Identity
from docsite.server.move.target import ALIAS
from docsite.server.placement import tables
from docsite.server.placement.deployments import PlacementError

User: Any = get_user_model()


def match(organization_id: int) -> dict[int, int]:
    """The id in the other database of each user that rows of the organization refer to. Creates users.

    A new user has the password, the identities and the devices of the old one, and no rights beyond memberships.
    Raises `PlacementError` if a name belongs to somebody else there.
    """
    return {pk: _find(pk) or _create(pk) for pk in sorted(_list_users(organization_id))}


def _list_users(organization_id: int) -> set[int]:
    found: set[int] = set()
    for model in tables.find_paths():
        for field in tables.list_user_fields(model):
            rows = tables.select_rows(model, organization_id).exclude(**{field.attname: None})
            found.update(rows.values_list(field.attname, flat=True).distinct())
    return found


def _find(pk: int) -> int | None:
    user = User.objects.get(pk=pk)
    for identity in Identity.objects.filter(user=pk):
        there = Identity.objects.using(ALIAS).filter(issuer=identity.issuer, subject=identity.subject).first()
        if there:
            return int(there.user_id)
    known = User.objects.using(ALIAS).filter(username=user.username).first()
    if known is None:
        return None
    if known.email and user.email and known.email.lower() != user.email.lower():
        raise PlacementError(
            f"The user {user.username} has another e-mail address in the new database. If this is one person, make the "
            "addresses equal; if not, rename one of the two. Then run the command again."
        )
    return int(known.pk)


def _create(pk: int) -> int:
    user = User.objects.get(pk=pk)
    with transaction.atomic(using=ALIAS):
        user.is_superuser = False
        new = _copy(user)
        for model in (Identity, TOTPDevice):
            for row in model._default_manager.filter(user=pk):
                _copy(row, user_id=new)
        for device in StaticDevice.objects.filter(user=pk):
            tokens = list(StaticToken.objects.filter(device=device.pk))
            there = _copy(device, user_id=new)
            for token in tokens:
                _copy(token, device_id=there)
    return new


def _copy(row: Model, **changes: int) -> int:
    """Store a row in the other database with a new id, which is returned."""
    for name, value in changes.items():
        setattr(row, name, value)
    row.pk = None
    row._state.adding = True
    row.save_base(raw=True, using=ALIAS, force_insert=True)  # as it is: no time of now, no signal
    return int(row.pk)
