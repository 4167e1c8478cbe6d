"""The projects of the user, for the start page of the admin."""

from django import template
from django.http import HttpRequest

from docsite.core.tenants import admin_extensions
from docsite.core.tenants.admin import organizations_of
from docsite.core.tenants.models import Project

register = template.Library()


@register.simple_tag
def projects_with_links(request: HttpRequest) -> list[tuple[Project, list[tuple[str, str]]]]:
    """Up to twenty projects that the user may see, by domain, each with the labels and addresses of its pages."""
    projects = Project.objects.filter(organization__in=organizations_of(request))[:20]
    return [(project, admin_extensions.links_of(project)) for project in projects]
