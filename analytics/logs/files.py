"""The lines of a log: from a file or a pipe, packed or not, however long they are."""

import gzip
import io
import os
import re
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from analytics.logs import formats
from analytics.logs.lines import MAX_LINE_BYTES

BLOCK = 512 * 1024  # of the unpacked log
_BACK = 1024 * 1024  # bytes before a place, of which `seek_line` returns the lines
_FINISHED_SECONDS = 60  # a log that was not written to for as long has its last line whole
_GZIP_MAGIC = b"\x1f\x8b"
_END = re.compile(rb"\r?\n")


class DamagedLog(Exception):
    """A packed log ends too early or holds other data. What is before that was imported."""


class LogFile:
    """The lines of a file, of a pipe, or of standard input (None), unpacked."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.file = path.open("rb") if path else sys.stdin.buffer
        assert isinstance(self.file, io.BufferedReader)
        self.is_file = path is not None and path.is_file()  # where one can go back, and on where one was
        self.packed = self.file.peek(2)[:2] == _GZIP_MAGIC
        self.unpacked = gzip.GzipFile(fileobj=self.file) if self.packed else self.file
        self.offset = 0
        self.has_partial_line = False  # the last one, which may not be whole yet
        self._last = b""  # line that was read
        self._is_in_line = False

    def __enter__(self) -> "LogFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.path:
            self.file.close()

    def first_line(self) -> bytes:
        """The first line, or what there is of it. The next line to be read is the first one again."""
        with _unpacking():
            line = self.unpacked.readline(MAX_LINE_BYTES)
            self.unpacked.seek(0)
        return strip_line(line)

    def seek_line(self, offset: int) -> list[bytes]:
        """Read on there. Returns the last lines before."""
        start = max(0, offset - _BACK)
        with _unpacking():
            self.unpacked.seek(start)
            before = self.unpacked.read(offset - start)
        self.offset = start + len(before)
        lines = before.removesuffix(b"\n").split(b"\n")
        self._last, self._is_in_line = lines[-1], before[-1:] != b"\n"
        return lines

    def skip_line_end(self) -> None:
        """Go over the end of the line in which `seek_line` ended, if that had none until now."""
        with _unpacking():
            if self._is_in_line and (end := _END.match(self.unpacked.peek(2))):
                self.offset += len(self.unpacked.read(len(end[0])))

    def blocks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Lines without their ends, as they come; before them, the bytes of one that was too long to be kept."""
        rest, dropped = b"", 0
        for data in self._data():
            self.offset += len(data)
            if dropped:
                end = data.find(b"\n") + 1
                dropped += end or len(data)
                if not end:
                    continue
                data = data[end:]
            *lines, rest = (rest + data).split(b"\n")
            if lines:
                self._last = lines[-1]
            yield dropped, lines
            dropped = 0
            if len(rest) > MAX_LINE_BYTES:
                rest, dropped = b"", len(rest)
        if rest:
            if _is_whole(rest, self._last, finished=self.is_finished()):
                yield 0, [rest]
            else:
                self.has_partial_line = True

    def _data(self) -> Iterator[bytes]:
        read = self.unpacked.read if self.is_file else self.unpacked.read1  # of a pipe, what is there
        with _unpacking():
            while data := read(BLOCK):
                yield data

    def is_finished(self) -> bool:
        """Whether nobody writes to it any more, so that its last line is whole though no line end follows."""
        return (
            not self.is_file or self.packed or time.time() - os.fstat(self.file.fileno()).st_mtime > _FINISHED_SECONDS
        )

    def share(self) -> float:
        """How much of the file is read."""
        return self.file.tell() / max(1, os.fstat(self.file.fileno()).st_size) if self.is_file else 0.0


@contextmanager
def _unpacking() -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DamagedLog from None


def _is_whole(line: bytes, before: bytes, *, finished: bool) -> bool:
    """Whether a line without an end lacks nothing else; otherwise the rest of it may come.

    JSON that can be read is whole. A line of another format has as many fields as the line before
    it, and while its log is still written it ends with a quote: a number at its end may be a part of one.
    """
    text = formats.decode(line)
    if formats.parse_line(text) is None:
        return False
    if text.startswith("{"):
        return True
    previous = formats.decode(before)
    as_many = previous.startswith("{") or formats.parse_line(previous) is None or _quotes(previous) == _quotes(text)
    return as_many and (finished or text.endswith('"'))


def _quotes(text: str) -> int:
    return text.count('"') - text.count('\\"')


def strip_line(line: bytes) -> bytes:
    """A line without its end, and no longer than lines are read."""
    return line.rstrip(b"\r\n")[-MAX_LINE_BYTES:]
