"""Address of the view script."""

from django.urls import path

from docsite.http.scripts import script

urlpatterns = [path("views.js", script, {"name": "views.js"})]
