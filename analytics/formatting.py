"""Texts from outside, and shares, as a report shows them."""

import unicodedata

_UNSEEN = ("Cc", "Cf", "Zl", "Zp")  # Unicode categories: controls, marks of direction and of no width, line breaks


def visible(text: str) -> str:
    """A text in which what cannot be seen stands by its code point, so that it hides and turns nothing."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"[U+{ord(sign):04X}]" if unicodedata.category(sign) in _UNSEEN else sign for sign in text)


def percent(part: int, whole: int) -> str:
    """A share in whole percent: neither 0% where there is some, nor 100% where there is other."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 1:
        return "<1%"
    return ">99%" if 99 < share < 100 else f"{share:.0f}%"
