"""Addresses of the documentation site. Pages have no trailing slash; analytics counts those named `page`."""

from django.urls import path

from docsite.pages import views

app_name = "pages"
urlpatterns = [
    path("", views.page, name="page"),
    path("llms.txt", views.llms, name="page"),
    path("search", views.search, name="search"),
    path("<slug:slug>", views.page, name="page"),
    path("<slug:slug>.md", views.markdown, name="page"),
    path("<slug:slug>/", views.without_slash),
]
