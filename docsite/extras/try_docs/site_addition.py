"""What is added to the site: addresses, and the field on the first page."""

from django.urls import path

from docsite.extras.try_docs import views
from docsite.site.additions import Addition

ADDITION = Addition(
    addresses=(
        path("try-your-docs", views.start, name="try_docs"),
        path("try-your-docs/<str:domain>", views.show, name="try_docs_show"),
        path("try-your-docs/<str:domain>/state", views.state, name="try_docs_state"),
        path("try-your-docs/<str:domain>/end", views.end, name="try_docs_end"),
    ),
    page_parts={"index": views.render_field},
)
