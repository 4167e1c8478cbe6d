"""The widget's build, for templates that show a tag of it."""

from django import template

from assistant import delivery
from docsite.core.http.errors import NotFound

register = template.Library()


@register.simple_tag
def widget_build() -> delivery.Embed | None:
    """Version and integrity of the loader; None where nothing is built."""
    try:
        return delivery.embed()
    except NotFound:
        return None
