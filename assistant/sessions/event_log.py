"""The chunks of a running answer, kept small: a reader may come back for all of them, and hundreds are kept at once."""

import zlib
from collections.abc import Iterator

BLOCK = 64  # chunks


class Log:
    """Grows at its end and is read from any position. Whole blocks are compressed, since chunks are much alike.

    Without `keep` it forgets what its one reader has read.
    """

    def __init__(self, *, keep: bool) -> None:
        self.keep = keep
        self._blocks: list[bytes] = []
        self._first = 0  # position of the first chunk of the tail
        self._tail: list[str] = []

    def __len__(self) -> int:
        return self._first + len(self._tail)

    def append(self, chunk: str) -> None:
        """Add a chunk, which holds no NUL: JSON escapes it."""
        self._tail.append(chunk)
        if self.keep and len(self._tail) == 2 * BLOCK:  # the newest ones are about to be read
            self._blocks.append(zlib.compress("\0".join(self._tail[:BLOCK]).encode(), 1))
            del self._tail[:BLOCK]
            self._first += BLOCK

    def read(self, position: int) -> Iterator[str]:
        """The chunks from a position on, up to the end there is when it gets there."""
        while position < len(self):
            if position < self._first:
                chunks = zlib.decompress(self._blocks[position // BLOCK]).decode().split("\0")[position % BLOCK :]
            else:
                chunks = self._tail[position - self._first :]
            for chunk in chunks:
                position += 1
                if not self.keep:
                    self._forget(position)
                yield chunk

    def _forget(self, position: int) -> None:
        if position - self._first >= BLOCK:  # not one by one: that would move the whole list each time
            del self._tail[: position - self._first]
            self._first = position
