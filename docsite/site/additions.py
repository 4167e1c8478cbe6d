"""What optional parts add to the site: addresses of their own, and a part of the first page in English."""

from collections.abc import Callable

from django.http import HttpRequest
from django.urls import URLPattern
from django.utils.safestring import SafeString

addresses: list[URLPattern] = []
_home_parts: list[Callable[[HttpRequest], SafeString]] = []


def add_address(pattern: URLPattern) -> None:
    """Add an address. It goes before those of pages. Call it in `AppConfig.ready`."""
    addresses.append(pattern)


def add_home_part(render: Callable[[HttpRequest], SafeString]) -> None:
    """Add a part of the first page: HTML, or nothing for a visitor whom it does not concern.

    Other readers may get it from the cache, so it must hold nothing of a reader. Call it in `AppConfig.ready`.
    """
    _home_parts.append(render)


def render_home_parts(request: HttpRequest) -> list[SafeString]:
    """The parts for this visitor."""
    return [part for part in (render(request) for render in _home_parts) if part]
