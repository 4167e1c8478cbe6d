"""Addresses that optional parts add behind the API middleware: all below `/NAME/`."""

from importlib import import_module

from django.urls import URLPattern

_modules: dict[str, str] = {}


def add_addresses(name: str, module: str) -> None:
    """Add the `urlpatterns` of a module, by its dotted name. Metrics count their requests as the kind `name`.

    Call it in `AppConfig.ready`. Processes that answer no requests never import the module.
    """
    _modules[name] = module


def load_addresses() -> list[URLPattern]:
    """The added addresses."""
    return [pattern for module in _modules.values() for pattern in import_module(module).urlpatterns]


def find_name(path: str) -> str | None:
    """The name whose addresses a path is among."""
    name = path[1:].partition("/")[0]
    return name if name in _modules else None
