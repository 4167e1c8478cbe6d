"""URLs of pages and of the admin. API paths are in `api_urls.py`; `asgi.py` chooses between the two."""

from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, include, path, re_path
from django.views.generic import RedirectView

from analytics.dashboard.share_links import show_report
from docsite.core.notifications.confirmation import confirm
from docsite.core.notifications.subscriptions import unsubscribe
from docsite.core.workspace.people.accept import accept
from docsite.core.workspace.people.first_account import create_first_account
from docsite.server.errors import not_found
from docsite.site import urls as site_urls


def no_shortcut(request: HttpRequest, rest: str) -> HttpResponse:
    """Refuse Django's redirect to the address of an object, which checks no permission."""
    raise Http404


def restrict_to_staff(pattern: URLPattern) -> URLPattern:
    """A copy of a URL pattern whose page answers 404 unless the user is logged in to the admin."""
    view = pattern.callback

    @wraps(view)
    def show(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, *args, **kwargs) if request.user.is_staff else not_found(request)

    return URLPattern(pattern.pattern, show, pattern.default_args)


# With SITE=false. What stays is for readers of projects, for programs that ask for rules, and for people in the admin,
# whose help links lead to pages.
WITHOUT_SITE = [
    path("", RedirectView.as_view(url="/admin/")),
    *(restrict_to_staff(pattern) for pattern in site_urls.urlpatterns if pattern.name in ("page", "search")),
    re_path(r"^(?!support/|robots\.txt$|\.well-known/security\.txt$)", not_found),
]

admin.autodiscover()
urlpatterns = [
    path("favicon.ico", RedirectView.as_view(url="/static/site/img/icon.svg", permanent=True)),
    path("admin/login/", include("docsite.core.sign_on.urls")),
    path("admin/r/<path:rest>", no_shortcut),  # Django would redirect to the address of any tenant's project
    path("admin/", admin.site.urls),
    path("invitations/<str:token>", accept, name="invitation"),
    path("first-account", create_first_account),
    path("unsubscribe/<str:token>", unsubscribe, name="unsubscribe"),
    path("confirm-address/<str:token>", confirm, name="confirm_address"),
    path("shared/<str:token>", show_report, name="shared_report"),
    *([] if settings.ENV.site else WITHOUT_SITE),
    path("", include("docsite.site.urls")),  # without the site too, since links are built from their names
]

handler404 = "docsite.site.views.not_found" if settings.ENV.site else "docsite.server.errors.not_found"
handler500 = "docsite.server.errors.server_error"
