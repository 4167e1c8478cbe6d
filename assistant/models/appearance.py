"""Validators for the look of the widget. The values become part of a style sheet and of the pages of readers."""

import re
from typing import Any

from django.core.exceptions import ValidationError

from docsite.core.tenants.validators import origin_of

MAX_LABELS = 200
MAX_LABEL_LENGTH = 300


def validate_accent(text: str) -> None:
    """Accept a CSS colour."""
    colour = r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(rgb|hsl)a?\([\d.,%/ ]+(deg|turn)?[\d.,%/ ]+\)|[a-z]{3,30}"
    if not re.fullmatch(colour, text, re.IGNORECASE | re.ASCII):
        raise ValidationError("Write a colour such as #0a6b5d, rgb(10 107 93), hsl(171 83% 23%) or teal.")


def validate_font(text: str) -> None:
    """Refuse characters that could end a CSS declaration."""
    if re.search(r"[;{}<>\\\x00-\x1f\x7f]", text):
        raise ValidationError("Write the names of fonts, separated by commas.")


def validate_logo(text: str) -> None:
    """Accept the address of an image: https://…, http://…, or a path with a leading slash."""
    try:
        if not re.match(r"/(?!/)", text):
            origin_of(text)
    except ValueError:
        raise ValidationError("Write an address that begins with https://, http:// or a slash.") from None
    if re.search(r"[\s\x00-\x1f\x7f<>\"\\]", text):
        raise ValidationError("Must have no spaces or quotes; write %20 and so on.")


def validate_labels(labels: Any) -> None:
    """Accept a mapping of label names to texts."""
    if not isinstance(labels, dict):
        raise ValidationError("Must be an object of label names and texts.")
    if len(labels) > MAX_LABELS:
        raise ValidationError(f"At most {MAX_LABELS} labels.")
    for name, text in labels.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name):
            raise ValidationError(f"{name[:64]}: not the name of a label.")
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_LABEL_LENGTH:
            raise ValidationError(f"{name}: write 1 to {MAX_LABEL_LENGTH} characters.")
