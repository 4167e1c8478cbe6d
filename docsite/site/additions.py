"""What optional parts add to the site: addresses of their own, and a part of the first page in English."""

from collections.abc import Callable
from importlib import import_module

from django.http import HttpRequest
from django.urls import URLPattern
from django.utils.safestring import SafeString

_modules: list[str] = []
_home_parts: list[Callable[[HttpRequest], SafeString]] = []


def add_addresses(module: str) -> None:
    """Add the `urlpatterns` of a module, by its dotted name, before the addresses of pages.

    Call it in `AppConfig.ready`. Processes that answer no requests never import the module.
    """
    _modules.append(module)


def load_addresses() -> list[URLPattern]:
    """The added addresses."""
    return [pattern for module in _modules for pattern in import_module(module).urlpatterns]


def add_home_part(render: Callable[[HttpRequest], SafeString]) -> None:
    """Add a part of the first page: HTML, or nothing for a visitor whom it does not concern.

    Other readers may get it from the cache, so it must hold nothing of a reader. Call it in `AppConfig.ready`.
    """
    _home_parts.append(render)


def render_home_parts(request: HttpRequest) -> list[SafeString]:
    """The parts for this visitor."""
    return [part for part in (render(request) for render in _home_parts) if part]
