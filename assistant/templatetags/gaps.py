"""A share in percent, for the pages of gaps and questions."""

from django import template

from docsite.core.workspace.reports.formatting import percent

register = template.Library()
register.simple_tag(percent, name="share")
