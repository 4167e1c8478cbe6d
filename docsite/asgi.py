"""The ASGI application, `docsite.asgi:application`: requests, sockets, and the server's start and end."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")

import django

django.setup()

from channels.routing import ProtocolTypeRouter

from docsite.server.handlers import limit_signals_to_pages
from docsite.server.lifecycle import lifespan
from docsite.server.routing import Http, Sockets

limit_signals_to_pages()
application = ProtocolTypeRouter({"http": Http(), "lifespan": lifespan, "websocket": Sockets()})

# Without this, each full garbage collection examines all loaded modules, and every stream waits for it.
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 50)
