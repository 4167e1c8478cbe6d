"""The admin site: Django's, with the pages of each project."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver

from docsite.core.tenants.login import LoginForm
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation


class WorkspaceSite(AdminSite):
    """Django's admin site. Its start page lists the projects; each has a home and a navigation of its own."""

    login_form = LoginForm
    site_header = site_title = "Documentation service"
    index_title = "Projects"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Tell templates whether the user may send the forms of the page, and add projects."""
        return {
            **super().each_context(request),
            "may_act": getattr(request, "may_act", False),
            "may_add_project": self.get_model_admin(Project).has_add_permission(request),
        }

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Add the pages of projects, which the apps have registered by now."""
        return [*navigation.urls(), *super().get_urls()]
