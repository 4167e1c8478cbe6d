"""Read archives of documentation. Each is unpacked into a temporary folder while it is read."""

import bz2
import gzip
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, BinaryIO, cast

from search.sources import Item, registry
from search.sources.request import SourceRequest

MAX_FILES = 20_000
MAX_BYTES = 500 * 1024 * 1024  # of all files together
MAX_FILE_BYTES = 5 * 1024 * 1024  # larger files are no pages and are skipped
MAX_RATIO = 200  # unpacked size to packed size; text reaches 20
_ALWAYS_ALLOWED = 20 * 1024 * 1024  # bytes, whatever the ratio
_BLOCK = 64 * 1024
_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_DRIVE = re.compile(r"[a-zA-Z]:")
_METADATA = ("__MACOSX", "pax_global_header")  # added by archive programs
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, UnicodeError),
    RuntimeError,  # of zipfile, for a password or an unknown compression
)


def is_archive(file: Path) -> bool:
    """Whether a file is an archive, by its name."""
    return file.name.lower().endswith(_ENDINGS)


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is an archive on disk."""
    return request.file is not None and is_archive(request.file)


def read(request: SourceRequest) -> Iterator[Item]:
    """The items of the folder in the archive. Raises ValueError like `unpack`."""
    with unpack(Path(request.location)) as folder:
        inner = replace(request, location=str(folder))
        yield from registry.find_reader(inner).read(inner)


@contextmanager
def unpack(file: Path) -> Iterator[Path]:
    """Unpack an archive and yield the folder of its files. The folder is removed afterwards.

    Only plain files are unpacked: no links, no devices, no files of more than `MAX_FILE_BYTES`. Raises ValueError with
    a sentence for an archive that is damaged, encrypted or too large, or has names that lead out of it.
    """
    with TemporaryDirectory() as directory:
        root = Path(directory)
        budget = _Budget(file)
        try:
            extract = _unpack_zip if file.name.lower().endswith(".zip") else _unpack_tar
            extract(file, root, budget)
        except _DAMAGED as wrong:
            raise ValueError(f"{file.name} cannot be unpacked: it is damaged, or no archive of its kind") from wrong
        yield _find_content_folder(root)


class _Budget:
    """Counts what was unpacked, up to the limits."""

    def __init__(self, file: Path) -> None:
        self.name = file.name
        self.files = 0
        self.bytes = 0
        self.max_bytes = min(MAX_BYTES, max(_ALWAYS_ALLOWED, file.stat().st_size * MAX_RATIO))

    def count_file(self) -> None:
        """Count an entry. Raises ValueError when there are too many."""
        self.files += 1
        if self.files > MAX_FILES:
            raise ValueError(f"{self.name} holds more than {MAX_FILES:,} files")

    def count_bytes(self, size: int) -> None:
        """Count bytes that were unpacked. Raises ValueError when there are too many."""
        self.bytes += size
        if self.bytes > self.max_bytes:
            raise ValueError(f"{self.name} unpacks to more than {self.max_bytes // 1024**2} MiB")


class _CountingStream:
    """A stream that counts unpacked bytes, including bytes that the archive's reader skips."""

    def __init__(self, stream: IO[bytes], budget: _Budget) -> None:
        self.stream, self.budget = stream, budget

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self.stream.read(size)
        self.budget.count_bytes(len(data))
        return data


def _unpack_zip(file: Path, root: Path, budget: _Budget) -> None:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            budget.count_file()
            path = _make_path(entry.filename, root, budget)
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.flag_bits & 1:
                raise ValueError(f"{file.name} is encrypted")
            if entry.is_dir() or kind not in (0, stat.S_IFREG) or entry.file_size > MAX_FILE_BYTES:
                continue
            with archive.open(entry) as packed:
                _write(cast("IO[bytes]", _CountingStream(packed, budget)), path)


def _unpack_tar(file: Path, root: Path, budget: _Budget) -> None:
    with _decompress(file) as stream:
        counted = cast("IO[bytes]", _CountingStream(stream, budget))
        with tarfile.open(fileobj=counted, mode="r|") as archive:
            for entry in archive:
                budget.count_file()
                path = _make_path(entry.name, root, budget)
                packed = archive.extractfile(entry) if entry.isreg() and entry.size <= MAX_FILE_BYTES else None
                if packed:
                    _write(packed, path)


def _decompress(file: Path) -> BinaryIO:
    name = file.name.lower()
    if name.endswith("gz"):
        return cast("BinaryIO", gzip.open(file))
    if name.endswith("bz2"):
        return cast("BinaryIO", bz2.open(file))
    if name.endswith("xz"):
        return cast("BinaryIO", lzma.open(file))
    return file.open("rb")


def _make_path(name: str, root: Path, budget: _Budget) -> Path:
    """The path of an entry on disk. Raises ValueError when its name leads out of the archive."""
    parts = name.rstrip("/").split("/")
    if name.startswith("/") or "\\" in name or "\x00" in name or ".." in parts or _DRIVE.match(name):
        raise ValueError(f"{budget.name} has a name that leads out of it: {name[:100]!r}")
    return root.joinpath(*parts)


def _write(packed: IO[bytes], path: Path) -> None:
    """Write a file. Its entry promised at most `MAX_FILE_BYTES`; if it is larger, the archive is damaged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with path.open("wb") as out:
        while block := packed.read(_BLOCK):
            size += len(block)
            if size > MAX_FILE_BYTES:
                raise EOFError
            out.write(block)


def _find_content_folder(root: Path) -> Path:
    """The only folder at the top, as in archives of GitHub and package registries; else the root."""
    entries = [entry for entry in root.iterdir() if entry.name not in _METADATA]
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else root
