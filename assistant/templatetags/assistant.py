"""Amounts of money, shares in percent, and the current build of the widget, for templates that show a script tag."""

from django import template

from assistant.admin.costs.forms import format_decimal
from assistant.spending.prices import format_money
from assistant.widget import files
from docsite.core.http.errors import NotFound
from docsite.core.workspace.reports.formatting import percent

register = template.Library()
register.filter("money", format_money)
register.filter("price", format_decimal)
register.simple_tag(percent, name="share")


@register.simple_tag
def widget_build() -> files.Embed | None:
    """The version and integrity of the loader; None if the widget is not built."""
    try:
        return files.get_embed()
    except NotFound:
        return None
