"""The projects of the user, for the start page of the admin."""

from django import template
from django.http import HttpRequest

from docsite.core.tenants.admin import organizations_of
from docsite.core.tenants.models import Project

register = template.Library()


@register.simple_tag
def projects_of(request: HttpRequest) -> list[Project]:
    """Up to twenty projects that the user may see, by domain."""
    return list(Project.objects.filter(organization__in=organizations_of(request))[:20])
