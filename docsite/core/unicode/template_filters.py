"""Django's filter `truncatechars` for text of readers and pages. All templates use it.

Combining marks are capped before Django normalizes the text."""

from django import template
from django.template import defaultfilters

from docsite.core.unicode.normalization import cap_marks

register = template.Library()


@register.filter(is_safe=True)
def truncatechars(text: str, length: int) -> str:
    """At most so many characters of a text, the last one an ellipsis if it is longer."""
    return str(defaultfilters.truncatechars(cap_marks(str(text)), length))
