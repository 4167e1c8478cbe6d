"""The addresses below `/mcp/`, behind the API middleware."""

from django.urls import path

from docsite.extras.mcp.endpoint import endpoint
from docsite.extras.mcp.files import server_card, skill

urlpatterns = [
    path("mcp/<str:domain>", endpoint),
    path("mcp/<str:domain>/", endpoint),
    path("mcp/<str:domain>/server-card", server_card),
    path("mcp/<str:domain>/skill.md", skill),
]
