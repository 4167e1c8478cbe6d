"""The URL of the view script."""

import asyncio

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.http import require_GET

from docsite.core.http import scripts


@require_GET
async def view_script(request: HttpRequest) -> HttpResponseBase:
    """The script that counts page views."""
    script = await asyncio.to_thread(scripts.load_script, "views.js")  # its first load reads a file
    return scripts.script_response(request, script, scripts.SHORT_CACHE)


urlpatterns = [path("views.js", view_script)]
