"""How the serving process uses memory: the garbage collector, and what the C library gives back to the system."""

import contextlib
import ctypes
import gc
import threading
import time

TRIM_SECONDS = 30.0
_M_MMAP_THRESHOLD = -3  # of malloc.h: larger blocks go back to the system as soon as they are free


def configure() -> None:
    """Set up the garbage collector and glibc, after all modules are imported."""
    # Without this, each full garbage collection examines all loaded modules, and every stream waits for it.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    with contextlib.suppress(AttributeError):  # other C libraries have no `mallopt`
        # Without this, glibc keeps the memory of large bodies for later, in each of the threads that read them.
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, 256 * 1024)


def start() -> None:
    """Start a thread that gives freed memory back to the system. Without it, a busy process grows by a fifth."""
    threading.Thread(target=_trim_regularly, name="memory", daemon=True).start()


def _trim_regularly() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    while True:
        time.sleep(TRIM_SECONDS)
        gc.collect()  # a few milliseconds: what was there at the start is frozen
        if trim:
            trim(0)
