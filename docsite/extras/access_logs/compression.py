"""Open a log whatever it is compressed with, known by its first bytes."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

MAGIC_BYTES = 6
_ZSTD = b"\x28\xb5\x2f\xfd"
_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    _ZSTD: lambda file: _open_zstd(file),
}
_ZSTD_MODULES = ("compression.zstd", "backports.zstd")  # of Python 3.14, and the same for earlier ones
_REFUSED = {
    b"PK\x03\x04": "is a ZIP archive. Unpack it, and import the log in it.",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive. Unpack it, and import the log in it.",
    b"\x04\x22\x4d\x18": "is compressed with LZ4. Import it by a pipe: lz4 -dc FILE | manage importlog DOMAIN -",
    b"\x1f\x9d": "is compressed with compress. Import it by a pipe: zcat FILE | manage importlog DOMAIN -",
    b"PAR1": "is a Parquet file. Let the server write its logs as text.",
    b"SQLite": "is a database of SQLite, and no log.",
}
_NO_ZSTD = (
    "is compressed with zstd, which this Python cannot unpack. Import it by a pipe: "
    "zstd -dc FILE | manage importlog DOMAIN -"
)
_damage: set[type[Exception]] = {EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError}  # and that of zstd


class DamagedLog(Exception):
    """A compressed log ends too early or holds other data. The part before that was imported."""


class UnknownCompression(Exception):
    """The file is packed in a way that is not read. The message says what to do."""


def open_unpacked(file: io.BufferedReader) -> Any:
    """The unpacked content of a file or pipe: the file itself if it is not compressed. Raises UnknownCompression."""
    start = file.peek(MAGIC_BYTES)[:MAGIC_BYTES]
    for magic, sentence in _REFUSED.items():
        if start.startswith(magic):
            raise UnknownCompression(sentence)
    return next((open_file(file) for magic, open_file in _OPENERS.items() if start.startswith(magic)), file)


@contextmanager
def report_damage() -> Iterator[None]:
    """Raise DamagedLog where the data are not what the compression says."""
    try:
        yield
    except tuple(_damage):
        raise DamagedLog from None
    except OSError as failure:
        if failure.errno is None:  # of bz2; one of a file has a number
            raise DamagedLog from None
        raise


def _open_zstd(file: io.BufferedReader) -> Any:
    for name in _ZSTD_MODULES:
        try:
            zstd = import_module(name)
        except ImportError:
            continue
        _damage.add(zstd.ZstdError)
        return zstd.ZstdFile(file)
    raise UnknownCompression(_NO_ZSTD)
