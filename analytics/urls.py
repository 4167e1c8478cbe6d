"""The URL of the view script."""

from django.urls import path

from docsite.core.http.scripts import view_script

urlpatterns = [path("views.js", view_script)]
