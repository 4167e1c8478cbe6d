"""Replaces personal data and secrets by words: `[e-mail]`, `[key]`, `[IBAN]`, `[card number]`, `[IP address]`.

Card numbers and IBANs count only with valid check digits. When in doubt, a text of the right form is replaced.
"""

import functools
import ipaddress
import re

from stdnum import iban, luhn, numdb

# Where a text is written without spaces, as in Japanese, no boundary of words helps. So boundaries are ASCII here.
_KEY = re.compile(
    r"""
    -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----(?:(?!-----END)[\s\S])*+(?:-----END\ [A-Z ]{0,30}-----)?
    | (?<![\w-])(?:
        (?:svc_(?:dsc_)?|gh[oprsu]_|hf_|npm_)(?=[A-Za-z]*[0-9])[0-9A-Za-z]{16,}
        | (?:sk-|[prs]k_(?:live|test)_|whsec_|github_pat_|glpat-|xapp-|xox[a-z]-|pypi-|AIza)
          (?=[A-Za-z_-]*[0-9])[\w-]{16,}
        | A[KS]IA[0-9A-Z]{16}(?!\w)
        | eyJ[\w-]{8,}\.eyJ[\w-]+\.[\w-]*  # JSON Web Token
    )
    | (?i:(?<=bearer\ ))(?=[A-Za-z_.~+/-]*[0-9])[\w.~+/-]{16,}=*
    """,
    re.ASCII | re.VERBOSE,
)
_LETTERS = "0-9A-Za-zÀ-ɏ"
_EMAIL = re.compile(  # `git@…` is the address of a repository
    rf"(?<![{_LETTERS}_.+-])(?!git@)[{_LETTERS}_.+-]++(?:@|%40)(?:[{_LETTERS}-]++\.)+[A-Za-zÀ-ɏ]{{2,}}(?![{_LETTERS}])"
)
_IBAN = re.compile(r"(?<![0-9A-Za-z])([A-Za-z]{2})[0-9]{2}(?=[ -]?[0-9A-Za-z])")
_FORMAT_PART = re.compile(r"([0-9]{1,2})!")  # of a country's format, such as 4!n14!c
_DIGITS = re.compile(r"(?<![0-9A-Za-z_])(?<![0-9]\.)[0-9]++(?:[ -][0-9]++)*(?![0-9A-Za-z_]|\.[0-9])")
_SEPARATOR = re.compile(r"([ -])")
_MAX_CARD_GROUPS = 5
_IPV4 = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)(?<!ersion )(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?!\w|\.[0-9]|-[A-Za-z])", re.ASCII
)
_IPV6 = re.compile(r"(?<![\w.:])[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{2,35}(?![\w:])", re.ASCII)


def redact(text: str) -> str:
    """The text with words in place of e-mail addresses, keys, card numbers, IBANs and public IP addresses."""
    text = _KEY.sub("[key]", text)
    text = _EMAIL.sub("[e-mail]", text)
    text = _redact_ibans(text)
    text = _DIGITS.sub(_redact_cards, text)
    text = _IPV4.sub(_redact_address, text)
    return _IPV6.sub(_redact_address, text)


def _redact_ibans(text: str) -> str:
    redacted, position = "", 0
    for match in _IBAN.finditer(text):
        rest = _rest_of_iban(match[1].upper()).match(text, match.end())
        if rest and match.start() >= position and iban.is_valid(match[0] + rest[0], check_country=False):
            redacted += f"{text[position : match.start()]}[IBAN]"
            position = rest.end()
    return redacted + text[position:]


@functools.lru_cache(1_000)
def _rest_of_iban(country: str) -> re.Pattern[str]:
    """What follows the check digits in the IBANs of a country. Matches nothing for letters that are no country."""
    format_ = numdb.get("iban").info(country)[0][1].get("bban", "")
    length = sum(map(int, _FORMAT_PART.findall(format_)))
    return re.compile(rf"(?:[ -]?[0-9A-Za-z]){{{length}}}(?![0-9A-Za-z])" if length else r"(?!)")


def _redact_cards(run: re.Match[str]) -> str:
    """Redact a run of digits, which may have a card number between other numbers."""
    pieces = _SEPARATOR.split(run[0])  # digits and separators in turn
    redacted, index = "", 0
    while index < len(pieces):
        sizes = range(2 * _MAX_CARD_GROUPS - 1, 0, -2)
        size = next((size for size in sizes if _is_card(pieces[index : index + size : 2])), 0)
        redacted += "[card number]" if size else pieces[index]
        index += size or 1
    return redacted


def _is_card(groups: list[str]) -> bool:
    """Whether groups of digits are a card number: of 13 to 19 digits, the first as payment cards have it."""
    number = "".join(groups[:_MAX_CARD_GROUPS])
    is_grouped_like_one = len(groups[0]) >= 4 and min(map(len, groups)) >= 3
    return is_grouped_like_one and 13 <= len(number) <= 19 and number[0] in "23456" and luhn.is_valid(number)


def _redact_address(match: re.Match[str]) -> str:
    """Private, local and example addresses stay: they lead to nobody."""
    try:
        return "[IP address]" if ipaddress.ip_address(match[0]).is_global else match[0]
    except ValueError:
        return match[0]
