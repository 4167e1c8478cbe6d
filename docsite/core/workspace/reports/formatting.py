"""Format texts of clients and percentages for reports."""

import unicodedata

_UNSEEN = ("Cc", "Cf", "Zl", "Zp")  # Unicode categories: controls, marks of direction and of no width, line breaks


def visible(text: str) -> str:
    """Replace invisible characters by their code points. They could hide or reverse other text."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"[U+{ord(sign):04X}]" if unicodedata.category(sign) in _UNSEEN else sign for sign in text)


def percent(part: int, whole: int) -> str:
    """A share in whole percent: never 0% for some, never 100% for less than all."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 1:
        return "<1%"
    return ">99%" if 99 < share < 100 else f"{share:.0f}%"


def format_share(share: float | None) -> str:
    """A share (0..1) in whole percent; empty if unknown."""
    return "" if share is None else percent(round(share * 1_000_000), 1_000_000)
