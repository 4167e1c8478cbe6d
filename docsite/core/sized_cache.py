"""A cache that is limited by the memory of its values, not by their number."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class SizedCache(Generic[Key, Value]):
    """The values that were used last. The newest one stays, however large it is."""

    def __init__(self) -> None:
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.lock = threading.RLock()  # to hold over several calls
        self.nbytes = 0

    def get(self, key: Key) -> Value | None:
        """A value, which then counts as used."""
        with self.lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Key, value: Value, nbytes: int, max_bytes: int) -> None:
        """Store a value of a size, and drop those that were not used for the longest time."""
        with self.lock:
            if key in self._values:
                self.nbytes -= self._values.pop(key)[1]
            self._values[key] = value, nbytes
            self.nbytes += nbytes
            while len(self._values) > 1 and self.nbytes > max_bytes:
                self.nbytes -= self._values.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Drop all."""
        with self.lock:
            self._values.clear()
            self.nbytes = 0
