"""The admin site: Django's, with the pages of each project."""

from django.contrib.admin import AdminSite
from django.urls import URLPattern, URLResolver

from docsite.core.tenants.login import LoginForm
from docsite.core.workspace import navigation


class WorkspaceSite(AdminSite):
    """Django's admin site. Its start page lists the projects; each has a home and a navigation of its own."""

    login_form = LoginForm
    site_header = site_title = "Documentation service"
    index_title = "Projects"

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Add the pages of projects, which the apps have registered by now."""
        return [*navigation.urls(), *super().get_urls()]
