"""The ASGI application, `docsite.asgi:application`: requests, sockets, and the server's start and end."""

import contextlib
import ctypes
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
# Of malloc.h: blocks of at least this size go back to the system as soon as they are free; how many heaps there are.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8

application = ProtocolTypeRouter({"http": Http(), "lifespan": lifespan, "websocket": Sockets()})

# Without this, each full garbage collection examines all loaded modules, and every stream waits for it.
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 50)

# Without this, glibc keeps the memory of large bodies for later, and a heap for each of the threads that read them.
with contextlib.suppress(AttributeError):  # other C libraries have no `mallopt`
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_MMAP_THRESHOLD, 256 * 1024)
    libc.mallopt(_M_ARENA_MAX, 2)
