"""Serves the files of the widget and the search: the loaders of this build, and files at addresses that never change.

    /widget.js                       the loader of the current build
    /search.js                       the search tag's script of the current build
    /widget/3f2a9c01b7de/widget.js   the loader whose SHA-256 begins with 3f2a9c01b7de, of any build

Pages pin the loader by the second address, with an integrity hash, and the loader
pins its panel. So a build is stored in the database before its addresses are
published. Every host serves it from then on, also after an upgrade and with
another build.
"""

import asyncio
import base64
import functools
import hashlib
import logging
from typing import NamedTuple

from django.conf import settings
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from assistant.models import WidgetFile
from assistant.models.widget import VERSION_LENGTH
from docsite.core.db import in_db
from docsite.core.http import scripts
from docsite.core.http.errors import NotFound
from docsite.core.http.scripts import Script
from docsite.core.postgresql import primary

logger = logging.getLogger(__name__)

LOADER, PANEL, SEARCH = "widget.js", "panel.js", "search.js"
STORE_SECONDS = 0.5  # that the first request waits for the database
_storing: "asyncio.Task[None] | None" = None

_PARTS = ("markdown", "highlight", "citation-card", "menu", "person-form", "search-dialog", "deflect")
BUILD = (LOADER, PANEL, SEARCH, *(f"{name}.js" for name in _PARTS))


class Embed(NamedTuple):
    """The values of a script tag that pins the loader: the version in its address, and its `integrity`."""

    version: str
    integrity: str


def get_embed() -> Embed:
    """Store this build and return the embed values of its loader. Raises NotFound if the widget is not built."""
    _store_build()
    loader = scripts.load_script(LOADER)
    return Embed(_version(loader), f"sha384-{base64.b64encode(hashlib.sha384(loader.content).digest()).decode()}")


def get_panel_path() -> str:
    """Store this build and return the path of its panel. Raises NotFound if the widget is not built."""
    _store_build()
    return f"/widget/{_version(scripts.load_script(PANEL))}/{PANEL}"


@require_GET
async def latest(request: HttpRequest, name: str) -> HttpResponseBase:
    """Serve a script of this build, the loader or that of the search tag; caches keep it for five minutes."""
    await _ensure_stored()
    return scripts.script_response(request, scripts.load_script(name), scripts.SHORT_CACHE)


@require_GET
async def pinned(request: HttpRequest, version: str, name: str) -> HttpResponseBase:
    """Serve a file of this build or an earlier one; caches keep it forever."""
    await _ensure_stored()
    current = scripts.load_script(name)
    script = current if version == _version(current) else await in_db(_load_stored)(version, name)
    return scripts.script_response(request, script, scripts.IMMUTABLE_CACHE)


@require_GET
async def declarations(request: HttpRequest) -> HttpResponse:
    """Serve the TypeScript declarations of the widget's interface for pages."""
    return _serve_text(await asyncio.to_thread((settings.WIDGET_DIST.parent / "widget.d.ts").read_bytes))


@require_GET
async def licences(request: HttpRequest) -> HttpResponse:
    """Serve the licences of the libraries in the panel."""
    return _serve_text((await asyncio.to_thread(scripts.load_script, "licences.txt")).content)


def _serve_text(content: bytes) -> HttpResponse:
    headers = {"Cache-Control": scripts.SHORT_CACHE, "Access-Control-Allow-Origin": "*"}
    return HttpResponse(content, content_type="text/plain; charset=utf-8", headers=headers)


def _version(script: Script) -> str:
    return script.digest[:VERSION_LENGTH]


async def _ensure_stored() -> None:
    """Store this build once. The widget is served even if the database is down or does not answer."""
    global _storing
    if _store_build.cache_info().currsize:
        return
    if _storing is None or _storing.done():
        await asyncio.to_thread(_load_build)
        _storing = asyncio.create_task(_store())
        await asyncio.wait([_storing], timeout=STORE_SECONDS)


async def _store() -> None:
    try:
        await in_db(_store_build)()
    except DatabaseError:
        logger.warning("The widget's files could not be stored; a later request tries again.", exc_info=True)


@functools.cache
def _store_build() -> None:
    rows = [WidgetFile(version=_version(script), name=name, content=script.content) for name, script in _load_build()]
    WidgetFile.objects.bulk_create(rows, ignore_conflicts=True)


primary.forget_with(_store_build.cache_clear)


def _load_build() -> list[tuple[str, Script]]:
    return [(name, scripts.load_script(name)) for name in BUILD]


@functools.lru_cache(maxsize=16)
def _load_stored(version: str, name: str) -> Script:
    content = WidgetFile.objects.filter(version=version, name=name).values_list("content", flat=True).first()
    if content is None:
        raise NotFound("No such version of the widget.")
    return Script(bytes(content))
