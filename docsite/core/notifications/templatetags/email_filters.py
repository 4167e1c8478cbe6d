"""Filters for the text of e-mail."""

from django import template

register = template.Library()


@register.filter
def underline(heading: str) -> str:
    """A line of hyphens below a heading."""
    return "-" * len(heading)
