"""Read archives of documentation. Each is unpacked into a temporary folder while it is read."""

import bz2
import gzip
import hashlib
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
MAX_DEPTH = 40  # folders inside each other
_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_DRIVE = re.compile(r"[a-zA-Z]:")
_METADATA = ("__MACOSX", "pax_global_header")  # added by archive programs
_END_OF_TAR = bytes(1024)  # every tar ends with at least two empty blocks
DAMAGED = (
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


@dataclass(frozen=True)
class Entry:
    """A file of an archive: its path inside, and its content while it is read. Without `packed`, `reason` says why."""

    path: str
    packed: IO[bytes] | None
    reason: str = ""


@contextmanager
def unpack(file: Path) -> Iterator[Path]:
    """Unpack an archive and yield the folder of its files. The folder is removed afterwards.

    Only plain files are unpacked: no links, no devices, no files of more than `MAX_FILE_BYTES`. Raises ValueError with
    a sentence for an archive that is damaged, encrypted or too large, or has names that lead out of it.
    """
    with TemporaryDirectory() as directory:
        root = Path(directory)
        try:
            with file.open("rb") as stream:
                for entry in list_entries(stream, file.name.lower(), Budget(file.name, file.stat().st_size)):
                    if entry.packed:
                        write(entry.packed, root / entry.path)
        except DAMAGED as wrong:
            raise ValueError(f"{file.name} cannot be unpacked: it is damaged, or no archive of its kind") from wrong
        yield find_content_folder(root)


class Budget:
    """Counts what was unpacked, up to the limits. `name` stands for the archive in messages."""

    def __init__(self, name: str, packed_bytes: int) -> None:
        self.name = name
        self.files = 0
        self.bytes = 0
        self.max_bytes = min(MAX_BYTES, max(_ALWAYS_ALLOWED, packed_bytes * MAX_RATIO))

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
    """A stream that counts unpacked bytes, including bytes that the archive's reader skips. It remembers the last."""

    def __init__(self, stream: IO[bytes], budget: Budget) -> None:
        self.stream, self.budget = stream, budget
        self.tail = b""

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self.stream.read(size)
        self.budget.count_bytes(len(data))
        self.tail = (self.tail + data)[-len(_END_OF_TAR) :]
        return data


def list_entries(file: BinaryIO, name: str, budget: Budget) -> Iterator[Entry]:
    """The files of an archive, of the kind that the ending of `name` says. Read each before the next one.

    Raises ValueError for what `unpack` refuses, and one of `DAMAGED` for what cannot be read. A tar that was cut off
    between two files counts as damaged.
    """
    return _list_zip(file, budget) if name.endswith(".zip") else _list_tar(file, name, budget)


def _list_zip(file: BinaryIO, budget: Budget) -> Iterator[Entry]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            budget.count_file()
            path = check_path(entry.filename, budget.name)
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.flag_bits & 1:
                raise ValueError(f"{budget.name} is encrypted")
            if entry.is_dir() or kind == stat.S_IFDIR:
                continue
            if reason := _explain_skip(is_plain=kind in (0, stat.S_IFREG), size=entry.file_size):
                yield Entry(path, None, reason)
                continue
            with archive.open(entry) as packed:
                yield Entry(path, cast("IO[bytes]", _CountingStream(packed, budget)))


def _list_tar(file: BinaryIO, name: str, budget: Budget) -> Iterator[Entry]:
    with _decompress(file, name) as stream:
        counted = _CountingStream(stream, budget)
        with tarfile.open(fileobj=cast("IO[bytes]", counted), mode="r|") as archive:
            for entry in archive:
                budget.count_file()
                path = check_path(entry.name, budget.name)
                if entry.isdir():
                    continue
                if reason := _explain_skip(is_plain=entry.isreg(), size=entry.size):
                    yield Entry(path, None, reason)
                elif packed := archive.extractfile(entry):
                    yield Entry(path, packed)
        while counted.read(_BLOCK):  # to the end of the compressed data, whose checksum stands there
            pass
        if counted.tail != _END_OF_TAR:
            raise EOFError


def _explain_skip(*, is_plain: bool, size: int) -> str:
    """Why an entry is not unpacked; empty for one that is."""
    if not is_plain:
        return "is a link or another special file"
    return f"is larger than {MAX_FILE_BYTES // 1024**2} MiB" if size > MAX_FILE_BYTES else ""


def _decompress(file: BinaryIO, name: str) -> BinaryIO:
    for ending, opened in (("gz", gzip.open), ("bz2", bz2.open), ("xz", lzma.open)):
        if name.endswith(ending):
            return cast("BinaryIO", opened(file))
    return file


def check_path(name: str, archive: str) -> str:
    """The path of an entry without empty parts. Raises ValueError when it is too deep or leads out of the archive."""
    parts = name.rstrip("/").split("/")
    if name.startswith("/") or "\\" in name or "\x00" in name or ".." in parts or _DRIVE.match(name):
        raise ValueError(f"{archive} has a name that leads out of it: {name[:100]!r}")
    if len(parts) > MAX_DEPTH:
        raise ValueError(f"{archive} has more than {MAX_DEPTH} folders inside each other: {name[:100]!r}")
    return "/".join(part for part in parts if part not in ("", "."))


def write(packed: IO[bytes], path: Path) -> str:
    """Write a file and its folders, and return its SHA-256 in hex.

    Raises EOFError beyond `MAX_FILE_BYTES`, and leaves a partial file. Larger entries are left out by the size that
    they state, so such an entry stated a wrong one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    size, digest = 0, hashlib.sha256()
    with path.open("wb") as out:
        while block := packed.read(_BLOCK):
            size += len(block)
            if size > MAX_FILE_BYTES:
                raise EOFError
            digest.update(block)
            out.write(block)
    return digest.hexdigest()


def find_content_folder(root: Path) -> Path:
    """The only folder at the top, as in archives of GitHub and package registries; else the root."""
    entries = [entry for entry in root.iterdir() if entry.name not in _METADATA]
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else root
