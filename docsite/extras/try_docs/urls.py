"""The addresses, among those of the site."""

from django.urls import path

from docsite.extras.try_docs import views

urlpatterns = [
    path("try-your-docs", views.start, name="try_docs"),
    path("try-your-docs/<str:domain>", views.show, name="try_docs_show"),
    path("try-your-docs/<str:domain>/state", views.state, name="try_docs_state"),
    path("try-your-docs/<str:domain>/end", views.end, name="try_docs_end"),
]
