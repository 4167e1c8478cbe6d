"""Addresses of the documentation site. Pages have no trailing slash; analytics counts those named `page`."""

from django.urls import path

from docsite.site import agent_files, views
from docsite.site.ask import ask
from docsite.site.feedback import feedback
from docsite.site.navigation import FIRST, LANGUAGES

app_name = "pages"
urlpatterns = [
    path("", views.page, name="page"),
    path("llms.txt", agent_files.llms, name="page"),
    path("llms-full.txt", agent_files.llms_full, name="page"),
    path("sitemap.xml", agent_files.sitemap),
    path("robots.txt", agent_files.robots),
    path("search", views.search, name="search"),
    path("ask", ask, name="ask"),
    path("feedback", feedback, name="feedback"),
]
for code in [code for code in LANGUAGES if code != FIRST]:
    told = {"language": code}
    urlpatterns += [
        path(code, views.page, told, name="page"),
        path(f"{code}/", views.without_slash, {**told, "slug": "index"}),
        path(f"{code}/<slug:slug>", views.page, told, name="page"),
        path(f"{code}/<slug:slug>.md", views.markdown, told, name="page"),
        path(f"{code}/<slug:slug>/", views.without_slash, told),
    ]
urlpatterns += [
    path("<slug:slug>", views.page, name="page"),
    path("<slug:slug>.md", views.markdown, name="page"),
    path("<slug:slug>/", views.without_slash),
]
