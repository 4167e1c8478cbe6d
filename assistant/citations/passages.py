"""The passages that an answer may cite. While a model writes they are rarely read, so they can be held compressed."""

import asyncio
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, overload

import msgspec

from search.hits import Hit

# `body` and `text` of each passage in turn, which answers share (`search.text.shared_texts`). The lists with which the
# `above` of all passages begin: a page has one such list. Then the rest, compressed.
_Pack = tuple[tuple[str, ...], list[tuple[str, ...]], bytes]
_Beginning = tuple[int, int]  # which of these lists, and how much of it
PACK_SECONDS = 1.0  # a short answer ends before
_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(tuple[list[Hit], list[_Beginning]])


class Passages(Sequence[Hit]):
    """Passages that can be packed. To look at one then takes a third of a millisecond, and they stay packed."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._packs: list[_Pack] = []
        self._packed = 0  # passages, the first ones
        self._hits = [*hits]  # the others

    def pack(self) -> None:
        """Compress those that are there now, but for their texts."""
        if self._hits:
            self._packs.append(_pack(self._hits))
            self._packed, self._hits = len(self), []

    @contextmanager
    def packed_while_long(self) -> Iterator[None]:
        """Pack them a second after the block has begun, if it has not ended."""
        packing = asyncio.get_running_loop().call_later(PACK_SECONDS, self.pack)
        try:
            yield
        finally:
            packing.cancel()

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


def _pack(hits: Sequence[Hit]) -> _Pack:
    texts = tuple(text for hit in hits for text in (hit.body, hit.text))
    lists: list[tuple[str, ...]] = []
    for above in sorted((hit.above for hit in hits), key=len, reverse=True):
        if _find(above, lists) is None:
            lists.append(above)
    rest = [replace(hit, body="", text="", above=()) for hit in hits]
    return texts, lists, zlib.compress(_encoder.encode((rest, [_find(hit.above, lists) for hit in hits])))


def _find(above: tuple[str, ...], lists: Sequence[tuple[str, ...]]) -> _Beginning | None:
    size = len(above)
    return next(((number, size) for number, whole in enumerate(lists) if whole[:size] == above), None)


def _unpack(pack: _Pack) -> list[Hit]:
    texts, lists, compressed = pack
    rest, beginnings = _decoder.decode(zlib.decompress(compressed))
    return [
        replace(hit, body=body, text=text, above=lists[number][:size])
        for hit, (number, size), body, text in zip(rest, beginnings, texts[::2], texts[1::2], strict=True)
    ]
