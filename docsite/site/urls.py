"""URLs of the documentation site. Pages have no trailing slash. Analytics counts the URLs named `page`."""

from django.urls import path

from docsite.site import additions, views
from docsite.site.ask import ask
from docsite.site.feedback import feedback
from docsite.site.for_programs import agent_files, conventions
from docsite.site.navigation import DEFAULT_LANGUAGE, LANGUAGES
from docsite.site.support import support

app_name = "pages"
urlpatterns = [
    path("", views.page, name="page"),
    path("llms.txt", agent_files.llms, name="page"),
    path("llms-full.txt", agent_files.llms_full, name="page"),
    path("sitemap.xml", agent_files.sitemap),
    path("robots.txt", agent_files.robots),
    path("opensearch.xml", conventions.opensearch),
    path("changelog.atom", conventions.changelog_feed),
    path(".well-known/security.txt", conventions.security_txt),
    path("push.py", agent_files.push_script),
    path("search", views.search, name="search"),
    path("ask", ask, name="ask"),
    path("feedback", feedback, name="feedback"),
    path("support/<str:domain>", support, name="support"),
]
for code in [code for code in LANGUAGES if code != DEFAULT_LANGUAGE]:
    arguments = {"language": code}
    urlpatterns += [
        path(code, views.page, arguments, name="page"),
        path(f"{code}/", views.redirect_without_slash, {**arguments, "slug": "index"}),
        path(f"{code}/<slug:slug>", views.page, arguments, name="page"),
        path(f"{code}/<slug:slug>.md", views.markdown, arguments, name="page"),
        path(f"{code}/<slug:slug>/", views.redirect_without_slash, arguments),
    ]
urlpatterns += [
    *additions.load_addresses(),
    path("<slug:slug>", views.page, name="page"),
    path("<slug:slug>.md", views.markdown, name="page"),
    path("<slug:slug>/", views.redirect_without_slash),
]
