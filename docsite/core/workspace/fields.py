"""Form fields of the workspace."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from docsite.core.tenants.validators import origin_of

MAX_ORIGINS = 100


class OriginsField(forms.CharField):
    """Origins, one a line. An address with a path or capitals becomes its origin; a host alone gets `https://`."""

    def __init__(self, **options: Any) -> None:
        lines = forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField", "spellcheck": "false"})
        super().__init__(**{"widget": lines, "required": False, **options})

    def prepare_value(self, value: Any) -> Any:
        """Show a list as lines."""
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare the origins, not their spelling. A value that is no origin counts as a change."""
        try:
            return bool(list(initial or []) != self.clean(data))
        except ValidationError:
            return True

    def to_python(self, value: Any) -> Any:
        """The list of origins, each once."""
        lines = str(super().to_python(value)).replace(",", " ").split()
        if len(lines) > MAX_ORIGINS:
            raise ValidationError(f"At most {MAX_ORIGINS} addresses.")
        return list(dict.fromkeys(_find_origin(line) for line in lines))


def _find_origin(line: str) -> str:
    try:
        return origin_of(line if "://" in line else f"https://{line}")
    except ValueError:
        raise ValidationError(f"{line[:100]}: write an address such as https://docs.example.com.") from None
