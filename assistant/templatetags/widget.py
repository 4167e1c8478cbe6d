"""The widget's build, for templates that show a tag of it."""

from django import template

from assistant.widget import files
from docsite.core.http.errors import NotFound

register = template.Library()


@register.simple_tag
def widget_build() -> files.Embed | None:
    """Version and integrity of the loader; None where nothing is built."""
    try:
        return files.embed()
    except NotFound:
        return None
