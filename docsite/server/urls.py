"""URLs of pages and of the admin. API paths are in `api_urls.py`; `asgi.py` chooses between the two."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from docsite.core.tenants.login import login

urlpatterns = [
    path("favicon.ico", RedirectView.as_view(url="/static/site/img/icon.svg", permanent=True)),
    path("admin/login/", login),
    path("admin/", admin.site.urls),
    path("", include("docsite.site.urls")),
]

handler404 = "docsite.site.views.not_found"
handler500 = "docsite.server.errors.server_error"
