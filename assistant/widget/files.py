"""The widget's files: an alias of the loader that follows each build, and addresses that never change.

`/widget/VERSION/NAME` is the file of that name whose SHA-256 begins with VERSION.
Pages pin the loader by such an address, with an integrity hash, and the loader
its panel. So a build is stored before anybody hears of it, and is answered from
then on: after an upgrade, and by hosts that have another build.
"""

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

logger = logging.getLogger(__name__)

LOADER, PANEL = "widget.js", "panel.js"
BUILD = (LOADER, PANEL, "highlight.js")


class Embed(NamedTuple):
    """What a tag needs that pins the loader: the version in its address, and its `integrity`."""

    version: str
    integrity: str


def embed() -> Embed:
    """The loader of this build, whose address is answered from now on. Raises `NotFound` where nothing is built."""
    _keep()
    loader = scripts.built(LOADER)
    return Embed(_version(loader), f"sha384-{base64.b64encode(hashlib.sha384(loader.content).digest()).decode()}")


def panel_path() -> str:
    """Where the panel of this build is. Raises `NotFound` where nothing is built."""
    _keep()
    return f"/widget/{_version(scripts.built(PANEL))}/{PANEL}"


@require_GET
async def loader(request: HttpRequest) -> HttpResponseBase:
    """The loader of this build, kept five minutes."""
    await _kept()
    return scripts.answer(request, scripts.built(LOADER), scripts.SHORTLY)


@require_GET
async def pinned(request: HttpRequest, version: str, name: str) -> HttpResponseBase:
    """A file of this build or of an earlier one, kept for good."""
    await _kept()
    current = scripts.built(name)
    script = current if version == _version(current) else await in_db(_older)(version, name)
    return scripts.answer(request, script, scripts.FOREVER)


@require_GET
async def declarations(request: HttpRequest) -> HttpResponse:
    """What the widget offers to a page, as TypeScript declares it."""
    return _text((settings.WIDGET_DIST.parent / "widget.d.ts").read_bytes())


@require_GET
async def licences(request: HttpRequest) -> HttpResponse:
    """The licence of what the panel holds of others."""
    return _text(scripts.built("licences.txt").content)


def _text(content: bytes) -> HttpResponse:
    headers = {"Cache-Control": scripts.SHORTLY, "Access-Control-Allow-Origin": "*"}
    return HttpResponse(content, content_type="text/plain; charset=utf-8", headers=headers)


def _version(script: Script) -> str:
    return script.digest[:VERSION_LENGTH]


async def _kept() -> None:
    """Return when the build is stored. A database that is away does not keep the widget off the pages."""
    if _keep.cache_info().currsize:
        return
    try:
        await in_db(_keep)()
    except DatabaseError:
        logger.warning("The widget's files could not be stored; the next request tries again.", exc_info=True)


@functools.cache
def _keep() -> None:
    build = [(name, scripts.built(name)) for name in BUILD]
    rows = [WidgetFile(version=_version(script), name=name, content=script.content) for name, script in build]
    WidgetFile.objects.bulk_create(rows, ignore_conflicts=True)


@functools.lru_cache(maxsize=16)
def _older(version: str, name: str) -> Script:
    content = WidgetFile.objects.filter(version=version, name=name).values_list("content", flat=True).first()
    if content is None:
        raise NotFound("No such version of the widget.")
    return Script(bytes(content))
