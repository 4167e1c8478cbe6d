"""The addresses below `/agents/`, behind the API middleware."""

from django.urls import path

from docsite.extras.agent_pages import endpoint

urlpatterns = [
    path("agents/<str:domain>/edge/<str:name>", endpoint.edge_file),
    path("agents/<str:domain>/llms.txt", endpoint.contents),
    path("agents/<str:domain>/llms-<int:part>.txt", endpoint.contents),
    path("agents/<str:domain>/llms-full.txt", endpoint.all_pages),
    path("agents/<str:domain>/<path:folder>/llms.txt", endpoint.contents),
    path("agents/<str:domain>/<path:folder>/llms-<int:part>.txt", endpoint.contents),
    path("agents/<str:domain>/<path:folder>/llms-full.txt", endpoint.all_pages),
    path("agents/<str:domain>/", endpoint.page),
    path("agents/<str:domain>/<path:address>", endpoint.page),
]
