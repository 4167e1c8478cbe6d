"""The ASGI application, `docsite.asgi:application`: requests, sockets, and the server's start and end."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")

import django

django.setup()

from channels.routing import ProtocolTypeRouter

from docsite.server.handlers import limit_signals_to_pages
from docsite.server.lifecycle import lifespan
from docsite.server.routing import Http, sockets

limit_signals_to_pages()
application = ProtocolTypeRouter({"http": Http(), "lifespan": lifespan, "websocket": sockets()})

# Loaded modules stay loaded: without this, each full collection walks through all of them and stops every stream.
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 50)
