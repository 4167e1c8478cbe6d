"""Addresses of the widget's files."""

from django.urls import path

from docsite.http.scripts import script

urlpatterns = [
    path("widget.js", script, {"name": "widget.js"}),
    path("widget/panel.js", script, {"name": "panel.js"}),
]
