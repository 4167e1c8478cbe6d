"""The second factor of log-ins by password: codes of an app (TOTP, RFC 6238), and recovery codes.

django-otp checks both. After a wrong code it refuses further ones for a while, which doubles each time up to
`MAX_WAIT_SECONDS`: without an end, a person who knows the password could keep the owner of the account out for years.
A code works once.
"""

import re

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from docsite.core.http.errors import TooMany
from docsite.core.signals import log_in_changed

RECOVERY_CODES = 10
MAX_WAIT_SECONDS = 512  # after the tenth wrong code; a guess is right once in 333,333 times
_APP_CODE = re.compile(r"[0-9]{6}")


def is_set_up(user: User) -> bool:
    """Whether the account needs a code to log in."""
    return _find_app(user, is_confirmed=True) is not None


def create_secret(user: User) -> TOTPDevice:
    """A new secret for an app. It counts after `confirm`."""
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    return TOTPDevice.objects.create(user=user, name="app", confirmed=False)


def find_pending(user: User) -> TOTPDevice | None:
    """The secret that waits for its first code."""
    return _find_app(user, is_confirmed=False)


def describe(device: TOTPDevice) -> tuple[str, str]:
    """The picture that an app scans, as a `data:` address, and the secret in groups of four for typing."""
    address = str(device.config_url)
    secret = re.search(r"secret=([A-Z2-7]+)", address)
    assert secret  # config_url always has it
    import segno  # needed once for each account

    picture = segno.make(address).svg_data_uri(scale=5, border=4, dark="#000", light="#fff")
    return picture, " ".join(re.findall(".{1,4}", secret[1]))


def confirm(user: User, code: str) -> list[str]:
    """Switch two-factor log-in on if the code is that of the waiting secret. Returns recovery codes, else nothing."""
    with transaction.atomic():
        device = _find_app(user, is_confirmed=False, lock=True)
        if device is None or is_set_up(user) or not _check(device, _normalize(code)):
            return []
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        codes = _create_recovery_codes(user)
    log_in_changed.send(__name__, user=user, action="two-factor log-in set up")
    return codes


def verify(user: User, code: str) -> bool:
    """Use up a code of the app, or a recovery code. Raises TooMany while wrong codes block further ones."""
    code = _normalize(code)
    is_of_app = _APP_CODE.fullmatch(code) is not None
    with transaction.atomic():
        if is_of_app:
            is_right = _check(_find_app(user, is_confirmed=True, lock=True), code)
        else:
            codes = StaticDevice.objects.select_for_update().filter(user=user).first()
            is_right = _check(codes, _digest(code))
    if is_right and not is_of_app:
        log_in_changed.send(__name__, user=user, action="recovery code used")
    return is_right


def renew_recovery_codes(user: User) -> list[str]:
    """Replace the recovery codes. They are never shown again."""
    with transaction.atomic():
        codes = _create_recovery_codes(user)
    log_in_changed.send(__name__, user=user, action="recovery codes created")
    return codes


def count_recovery_codes(user: User) -> int:
    """How many recovery codes are left."""
    return int(StaticToken.objects.filter(device__user=user).count())


def remove(user: User) -> None:
    """Switch two-factor log-in off."""
    TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    log_in_changed.send(__name__, user=user, action="two-factor log-in removed")


def _find_app(user: User, *, is_confirmed: bool, lock: bool = False) -> TOTPDevice | None:
    devices = TOTPDevice.objects.filter(user=user, confirmed=is_confirmed)
    return (devices.select_for_update() if lock else devices).first()


def _check(device: TOTPDevice | StaticDevice | None, code: str) -> bool:
    if device is None:
        return False
    device.throttling_failure_count = min(device.throttling_failure_count, MAX_WAIT_SECONDS.bit_length())
    is_allowed, reason = device.verify_is_allowed()
    if not is_allowed:
        raise TooMany(int((reason["locked_until"] - timezone.now()).total_seconds()) + 1)
    return bool(device.verify_token(code))


def _create_recovery_codes(user: User) -> list[str]:
    """New codes of 80 random bits. Only keyed digests are stored."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery codes")
    codes = [StaticToken.random_token() + StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=_digest(code)) for code in codes)
    return [f"{code[:8]}-{code[8:]}" for code in codes]


def _normalize(code: str) -> str:
    """The code as apps show it and people type it, without blanks and hyphens."""
    return re.sub(r"[\s-]", "", code).lower()


def _digest(code: str) -> str:
    """What is stored of a recovery code: 64 bits of a keyed hash, which the column of django-otp has room for."""
    return salted_hmac("recovery code", code, algorithm="sha256").hexdigest()[:16]
