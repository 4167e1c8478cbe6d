"""Read the lines of a log, from a file or a pipe, compressed or not, of any length."""

import io
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from docsite.extras.access_logs import formats
from docsite.extras.access_logs.compression import open_unpacked, report_damage
from docsite.extras.access_logs.lines import COMMENT, MAX_LINE_BYTES

BLOCK = 512 * 1024  # of the unpacked log
_BACK = 1024 * 1024  # bytes before an offset whose lines `seek_line` returns
_FINISHED_SECONDS = 60  # without a write for so long, the last line of a log is complete
_END = re.compile(rb"\r?\n")


class LogFile:
    """The decompressed lines of a file, of a pipe, or of standard input (None)."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.file = path.open("rb") if path else sys.stdin.buffer
        assert isinstance(self.file, io.BufferedReader)
        self.is_file = path is not None and path.is_file()  # it can be read from any offset
        self.unpacked = open_unpacked(self.file)
        self.packed = self.unpacked is not self.file
        self.offset = 0
        self.has_partial_line = False  # the last line, which may not be complete yet, or is too long
        self.is_binary = False  # that line is no text
        self._last = b""  # the last line that was read
        self._is_in_line = False

    def __enter__(self) -> "LogFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.path:
            self.file.close()

    def first_line(self) -> bytes:
        """The first line, or the part of it that exists, after comments, which logs of one server have in common.

        Reading begins at the first line again afterwards.
        """
        with report_damage():
            line = self.unpacked.readline(MAX_LINE_BYTES)
            while line.startswith(COMMENT):
                line = self.unpacked.readline(MAX_LINE_BYTES)
            self.unpacked.seek(0)
        return strip_line(line)

    def seek_line(self, offset: int) -> list[bytes]:
        """Continue reading at an offset. Returns the last lines before it."""
        start = max(0, offset - _BACK)
        with report_damage():
            self.unpacked.seek(start)
            before: bytes = self.unpacked.read(offset - start)
        self.offset = start + len(before)
        lines = before.removesuffix(b"\n").split(b"\n")
        self._last, self._is_in_line = lines[-1], before[-1:] != b"\n"
        return lines

    def skip_line_end(self) -> None:
        """Skip the line end at the current offset, if the line before it had no end at the last import."""
        with report_damage():
            if self._is_in_line and (end := _END.match(self.unpacked.peek(2))):
                self.offset += len(self.unpacked.read(len(end[0])))

    def blocks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield lines without their ends, in batches. With each, the bytes of a too long line before it, or 0."""
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
        self.has_partial_line = dropped > 0
        if rest:
            if _is_whole(rest, self._last, finished=self.is_finished()):
                yield 0, [rest]
            else:
                self.has_partial_line, self.is_binary = True, b"\0" in rest

    def _data(self) -> Iterator[bytes]:
        read = self.unpacked.read if self.is_file else self.unpacked.read1  # of a pipe, only the data that is there
        with report_damage():
            while data := read(BLOCK):
                yield data

    def is_finished(self) -> bool:
        """Whether nobody writes to it any more, so that its last line is complete without a line end."""
        return (
            not self.is_file or self.packed or time.time() - os.fstat(self.file.fileno()).st_mtime > _FINISHED_SECONDS
        )

    def share(self) -> float:
        """The share of the file that was read so far, from 0 to 1."""
        return self.file.tell() / max(1, os.fstat(self.file.fileno()).st_size) if self.is_file else 0.0


def _is_whole(line: bytes, before: bytes, *, finished: bool) -> bool:
    """Whether the last line of a log is complete, although no line break follows it.

    Valid JSON is complete. A line of another format is if it has as many fields as the line before. While the
    log still grows, it must also end with a quote: `20` at the end may be the beginning of `200`.
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
    """A line without its end, cut to the longest line that is read."""
    return line.rstrip(b"\r\n")[-MAX_LINE_BYTES:]
