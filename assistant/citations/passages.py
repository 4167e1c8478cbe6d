"""The passages of an answer. They are most of its memory, and for most of its time nobody looks at them."""

import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, overload

import msgspec

from search.hits import Hit

# The longest text above a passage on each page; how much of it stands above each passage, None where it is
# another text; the passages, without that text where it is known.
_Pack = tuple[dict[str, str], list[int | None], list[Hit]]
_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Pack)


class Passages(Sequence[Hit]):
    """Passages that can be packed. To look at one then takes a third of a millisecond, and they stay packed."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._packs: list[bytes] = []
        self._packed = 0  # passages, the first ones
        self._hits = [*hits]  # the others

    def pack(self) -> None:
        """Compress those that are there now. It takes less than a millisecond."""
        if self._hits:
            self._packs.append(_pack(self._hits))
            self._packed, self._hits = len(self), []

    def extend(self, hits: Iterable[Hit]) -> None:
        """Add passages at the end."""
        self._hits += hits

    def copy(self) -> "Passages":
        """The passages as they are now. Both share their memory."""
        copy = Passages(self._hits)
        copy._packs, copy._packed = [*self._packs], self._packed
        return copy

    def _list(self) -> list[Hit]:
        return [*(hit for packed in self._packs for hit in _unpack(packed)), *self._hits]

    def __len__(self) -> int:
        return self._packed + len(self._hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> list[Hit]: ...

    def __getitem__(self, index: int | slice) -> Hit | list[Hit]:
        return self._list()[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._list())

    def index(self, value: Any, start: int = 0, stop: int = sys.maxsize) -> int:
        """The place of a passage. It unpacks once, and the inherited method would for each passage."""
        return self._list().index(value, start, stop)


def _pack(hits: Sequence[Hit]) -> bytes:
    above: dict[str, str] = {}
    for hit in hits:
        above[hit.path] = max(above.get(hit.path, ""), hit.above, key=len)
    sizes = [len(hit.above) if above[hit.path].startswith(hit.above) else None for hit in hits]
    rest = [vars(hit) if size is None else vars(hit) | {"above": ""} for hit, size in zip(hits, sizes, strict=True)]
    return zlib.compress(_encoder.encode((above, sizes, rest)), 1)


def _unpack(packed: bytes) -> list[Hit]:
    above, sizes, hits = _decoder.decode(zlib.decompress(packed))
    return [
        hit if size is None else replace(hit, above=above[hit.path][:size])
        for hit, size in zip(hits, sizes, strict=True)
    ]
