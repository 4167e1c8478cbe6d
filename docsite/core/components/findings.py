"""What a check of the set-up found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A fact about the set-up, and what the operator should do about it. Without advice all is well."""

    subject: str
    fact: str
    advice: str = ""
