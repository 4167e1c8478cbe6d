"""What optional parts add to the site.

A part names a module in `AppConfig.ready`: `additions.register("docsite.extras.try_docs.site_addition")`. The module
has `ADDITION`, and is imported with the site's addresses, so commands that serve nothing start without it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from django.http import HttpRequest
from django.urls import URLPattern
from django.utils.safestring import SafeString

Render = Callable[[HttpRequest], SafeString]

_modules: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Addition:
    """What a part adds to the site. A page may be cached and sent to others, so it shows nothing about one visitor.

    Each function returns an empty text where it has nothing to add; `note_for_agents` plain text, the others HTML.
    """

    addresses: tuple[URLPattern, ...] = ()  # they come before those of pages
    page_parts: Mapping[str, Render] = field(default_factory=dict)  # above the text of an English page, by its slug
    menu_part: Callable[[HttpRequest, str], SafeString] | None = None  # entries of each page's menu, in a language
    note_for_agents: Callable[[HttpRequest], str] | None = None  # a line of llms.txt


def register(module: str) -> None:
    """Add what a module adds, by its dotted name. Call it in `AppConfig.ready`."""
    _modules.append(module)


@cache
def load() -> tuple[Addition, ...]:
    """What the parts add, in the order of registration."""
    return tuple(import_module(module).ADDITION for module in _modules)


def load_addresses() -> list[URLPattern]:
    """The added addresses."""
    return [pattern for addition in load() for pattern in addition.addresses]


def render_page_parts(request: HttpRequest, slug: str) -> list[SafeString]:
    """The parts of a page."""
    return [addition.page_parts[slug](request) for addition in load() if slug in addition.page_parts]


def render_menu_parts(request: HttpRequest, language: str) -> list[SafeString]:
    """The entries of a page's menu."""
    return [addition.menu_part(request, language) for addition in load() if addition.menu_part]


def write_notes_for_agents(request: HttpRequest) -> list[str]:
    """The lines of llms.txt."""
    notes = [addition.note_for_agents(request) for addition in load() if addition.note_for_agents]
    return [note for note in notes if note]
