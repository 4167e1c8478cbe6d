"""The ASGI application, `docsite.asgi:application`: requests, sockets, and the server's start and end."""

import os
from importlib import import_module

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")

import django
from django.apps import apps
from django.conf import settings

if not apps.ready:  # commands are set up already; a second time would configure the log anew
    django.setup()

from channels.routing import ProtocolTypeRouter

from docsite.server import memory
from docsite.server.handlers import limit_signals_to_pages
from docsite.server.lifecycle import lifespan
from docsite.server.routing import Http, Sockets

import_module(settings.ROOT_URLCONF)  # otherwise the first page would load it, and every stream wait
limit_signals_to_pages()
application = ProtocolTypeRouter({"http": Http(), "lifespan": lifespan, "websocket": Sockets()})

memory.configure()
