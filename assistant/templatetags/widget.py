"""The current build of the widget, for templates that show a script tag."""

from django import template

from assistant.widget import files
from docsite.core.http.errors import NotFound

register = template.Library()


@register.simple_tag
def widget_build() -> files.Embed | None:
    """The version and integrity of the loader; None if the widget is not built."""
    try:
        return files.get_embed()
    except NotFound:
        return None
