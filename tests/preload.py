"""Imports the service and its libraries into one process. Every service that a test starts is a fork of it.

Each fork then reads the settings from its own environment.

Importing them takes two thirds of a start. Nothing here may start a thread or an event loop. No module may keep a
setting that depends on the environment: `test_settings_at_import.py` looks at what they read.
"""

import os
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

# What the service imports only when it needs it, and what its tests do.
LIBRARIES = [
    "autobahn.twisted.websocket", "blockbuster", "defusedxml.ElementTree", "django.contrib.sessions.backends.db",
    "django.contrib.staticfiles.storage", "django.core.management", "django.db.migrations.executor",
    "django.middleware.clickjacking", "django.middleware.common", "django.middleware.gzip",
    "django.middleware.security", "django.test", "docutils.core", "protego", "psycopg", "pytest",
    "selectolax.lexbor", "twisted.internet.asyncioreactor", "twisted.internet.tcp", "twisted.protocols.tls",
    "twisted.web.http", "unittest.mock", "whitenoise.middleware",
]  # fmt: skip
SERVICE = ["docsite.server.urls", "docsite.server.api_urls", "docsite.server.lifecycle", "docsite.server.routing"]
BY_SETTINGS = "docsite.server.urls"  # has other paths with `SITE=false`

settings_read: Counter[tuple[str, str]] = Counter()  # by name and by the module that read it


def _load() -> None:
    from django.conf import LazySettings

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    get = LazySettings.__getattribute__

    def watch(settings: LazySettings, name: str) -> Any:
        if name.isupper():
            settings_read[name, sys._getframe(1).f_globals["__name__"]] += 1
        return get(settings, name)

    LazySettings.__getattribute__ = watch  # type: ignore[method-assign]
    import django

    django.setup()
    for name in [*LIBRARIES, *SERVICE, *_list_migrations()]:
        import_module(name)
    LazySettings.__getattribute__ = get  # type: ignore[method-assign]


def _list_migrations() -> list[str]:
    from django.apps import apps

    folders = [(app.name, Path(app.path, "migrations")) for app in apps.get_app_configs()]
    return [f"{name}.migrations.{file.stem}" for name, folder in folders for file in folder.glob("[0-9]*.py")]


def forget_settings() -> None:
    """Have the settings read again, from the environment of now, as in a process that has just begun."""
    from django.conf import empty, settings
    from django.core.cache import caches
    from django.db import connections

    for name in (settings.SETTINGS_MODULE, "docsite.settings", BY_SETTINGS):
        sys.modules.pop(name, None)
    settings._wrapped = empty
    for handler in (connections, caches):
        handler.__dict__.pop("settings", None)
        handler.__init__()  # type: ignore[misc]  # it has read the settings of its connections, and may have one


_load()
