"""URLs of pages and of the admin. API paths are in `api_urls.py`; `asgi.py` chooses between the two."""

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path
from django.views.generic import RedirectView

from docsite.core.notifications.subscriptions import unsubscribe
from docsite.core.workspace.people.accept import accept


def no_shortcut(request: HttpRequest, rest: str) -> HttpResponse:
    """Refuse Django's redirect to the address of an object, which checks no permission."""
    raise Http404


urlpatterns = [
    path("favicon.ico", RedirectView.as_view(url="/static/site/img/icon.svg", permanent=True)),
    path("admin/login/", include("docsite.core.sign_on.urls")),
    path("admin/r/<path:rest>", no_shortcut),  # Django would redirect to the address of any tenant's project
    path("admin/", admin.site.urls),
    path("invitations/<str:token>", accept, name="invitation"),
    path("unsubscribe/<str:token>", unsubscribe, name="unsubscribe"),
    path("shared/", include("analytics.shared_urls")),
    path("", include("docsite.site.urls")),
]

handler404 = "docsite.site.views.not_found"
handler500 = "docsite.server.errors.server_error"
