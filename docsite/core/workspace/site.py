"""The admin site: Django's, with the pages of each project."""

from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, re_path, reverse
from django.views.decorators.common import no_append_slash

from docsite.core.sign_on.password import LoginForm, PasswordChangeForm
from docsite.core.sign_on.reauthentication import find_proof_url
from docsite.core.signals import downloaded
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation


class WorkspaceSite(AdminSite):
    """Django's admin site. Each project has a home and a navigation of its own; an app adds the start page."""

    login_form = LoginForm
    site_header = site_title = "Documentation service"
    index_title = "All records"

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Ask for a proof before credentials change, and report downloads."""
        checked = super().admin_view(view, cacheable)

        @wraps(checked)
        def respond(request: HttpRequest, *arguments: Any, **values: Any) -> Any:
            if request.method == "POST" and self.has_permission(request) and (detour := find_proof_url(request)):
                return HttpResponseRedirect(detour)
            response = checked(request, *arguments, **values)
            if request.method == "GET" and response.get("Content-Disposition", "").startswith("attachment"):
                match = request.resolver_match
                name = (match and match.url_name) or ""
                downloaded.send(type(self), name=name, domain=values.get("domain", ""))
            return response

        return respond

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Tell templates the version, and whether the user may send forms, must show a proof, and add projects."""
        may_act = getattr(request, "may_act", None)
        return {
            **super().each_context(request),
            "service_version": settings.VERSION,
            "may_act": bool(may_act),
            "proof_url": find_proof_url(request) if may_act is not False and self.has_permission(request) else "",
            "may_add_project": self.get_model_admin(Project).has_add_permission(request),
        }

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Django's page with our form."""
        request.current_app = self.name
        view: Any = PasswordChangeView.as_view(
            form_class=PasswordChangeForm,
            success_url=reverse("admin:password_change_done", current_app=self.name),
            extra_context={**self.each_context(request), **(extra_context or {})},
        )
        response: TemplateResponse = view(request)
        return response

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Add the pages that the apps have registered by now. Django's list of all models is beside the start page."""
        records = path("records", self.admin_view(self.index), name="records")
        slash = re_path(r"^project/.+/$", _redirect_without_slash)
        return [*navigation.urls(), slash, records, *super().get_urls()]


@no_append_slash
def _redirect_without_slash(request: HttpRequest) -> HttpResponseRedirect:
    query = request.META["QUERY_STRING"]
    return HttpResponseRedirect(request.path.rstrip("/") + (f"?{query}" if query else ""))
