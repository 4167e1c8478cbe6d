"""Addresses of the widget's files."""

from django.urls import path

from assistant.widget import widget_file

urlpatterns = [
    path("widget.js", widget_file, {"name": "widget.js"}),
    path("widget/panel.js", widget_file, {"name": "panel.js"}),
]
