"""How the serving process uses memory: the garbage collector, and what the C library gives back to the system."""

import contextlib
import ctypes
import gc

from docsite.core.background import BackgroundThread

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


class _Trimmer(BackgroundThread):
    """A thread that gives freed memory back to the system. Without it, a busy process grows by a fifth."""

    name = "memory"
    seconds = 30.0

    def work(self) -> None:
        """Collect garbage in a few milliseconds, since what was there at the start is frozen; then trim."""
        gc.collect()
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of glibc
            trim(0)


start = _Trimmer().start
