"""What a site's owner may choose about the widget: it ends up in a style sheet and on the pages of readers."""

import re
from typing import Any

from django.core.exceptions import ValidationError

from docsite.core.tenants.models import origin_of

MOST_LABELS = 200
LONGEST_LABEL = 300


def validate_accent(text: str) -> None:
    """Refuse anything but a colour of CSS: it becomes part of a style sheet."""
    colour = r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(rgb|hsl)a?\([\d.,%/ ]+(deg|turn)?[\d.,%/ ]+\)|[a-z]{3,30}"
    if not re.fullmatch(colour, text, re.IGNORECASE | re.ASCII):
        raise ValidationError("Write a colour such as #0a6b5d, rgb(10 107 93), hsl(171 83% 23%) or teal.")


def validate_font(text: str) -> None:
    """Refuse what would end a declaration of CSS."""
    if re.search(r"[;{}<>\\\x00-\x1f\x7f]", text):
        raise ValidationError("Write the names of fonts, separated by commas.")


def validate_logo(text: str) -> None:
    """Refuse anything but the address of an image: https://…, http://…, or a path with a leading slash."""
    try:
        if not re.match(r"/(?!/)", text):
            origin_of(text)
    except ValueError:
        raise ValidationError("Write an address that begins with https://, http:// or a slash.") from None
    if re.search(r"[\s\x00-\x1f\x7f<>\"\\]", text):
        raise ValidationError("Must hold no spaces or quotes; write %20 and so on.")


def validate_labels(labels: Any) -> None:
    """Refuse anything but words by the names of those they stand for."""
    if not isinstance(labels, dict):
        raise ValidationError("Must be names with their words.")
    if len(labels) > MOST_LABELS:
        raise ValidationError(f"At most {MOST_LABELS} labels.")
    for name, words in labels.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name):
            raise ValidationError(f"{name[:64]}: not the name of a label.")
        if not isinstance(words, str) or not words.strip() or len(words) > LONGEST_LABEL:
            raise ValidationError(f"{name}: write 1 to {LONGEST_LABEL} characters.")
