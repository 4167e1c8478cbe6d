"""Unpack the archive of a push. It may come from anybody with a key, so nothing in it is trusted."""

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from search.sources import UnreadablePage, archives

MANIFEST = ".push-manifest.json"  # the file of a delta that lists all files with their digests
NAME = "the archive"
SKIPPED_FOLDERS = {".git", "node_modules", "__MACOSX"}
# No parser opens these files, and they are most of the bytes of many sites.
MEDIA = {
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico", ".svg", ".pdf", ".psd"),
    *(".mp3", ".mp4", ".m4v", ".mov", ".ogg", ".wav", ".webm", ".woff", ".woff2", ".ttf", ".otf", ".eot"),
    *(".zip", ".gz", ".tgz", ".bz2", ".xz", ".tar", ".jar", ".7z", ".exe", ".dll", ".so", ".wasm", ".pyc"),
}
_KINDS = {b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip", b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}


@dataclass
class Contents:
    """The unpacked files: the SHA-256 of each by its path, and the files that were not unpacked."""

    digests: dict[str, str] = field(default_factory=dict)
    skipped: list[UnreadablePage] = field(default_factory=list)


def unpack(file: BinaryIO, folder: Path) -> Contents:
    """Unpack an archive into an empty folder.

    Raises ValueError with a sentence for an archive that is cut off, damaged, encrypted or too large, that has names
    which lead out of it, or one name twice. Links and devices are skipped.
    """
    contents = Contents()
    budget = archives.Budget(NAME, os.fstat(file.fileno()).st_size)
    try:
        for entry in archives.list_entries(file, _detect_kind(file), budget):
            if not is_text(entry.path):
                continue
            if entry.packed is None:
                contents.skipped.append(UnreadablePage(entry.path, entry.reason))
            elif entry.path in contents.digests:
                raise ValueError(f"{NAME} has {entry.path[:100]!r} twice")
            else:
                contents.digests[entry.path] = archives.write(entry.packed, folder / entry.path)
    except archives.DAMAGED as wrong:
        raise ValueError(f"{NAME} cannot be unpacked: it is cut off or damaged, or no tar or zip") from wrong
    return contents


def is_text(path: str) -> bool:
    """Whether a parser may need a file: it is not in the folder of a tool, and neither an image nor a program."""
    place = PurePosixPath(path)
    return place.suffix.lower() not in MEDIA and SKIPPED_FOLDERS.isdisjoint(place.parts)


def find_root(folder: Path, root: str) -> Path:
    """The folder of the documentation: `root` if it is named, else the only folder at the top, else the archive's.

    Raises ValueError when `root` is no folder of the archive.
    """
    if not root:
        return archives.find_content_folder(folder)
    place = folder / root
    if not place.is_dir():
        raise ValueError(f"root: {NAME} has no folder {root}")
    return place


def _detect_kind(file: BinaryIO) -> str:
    """The kind of an archive by its first bytes, as the ending of a name."""
    file.seek(0)
    begin = file.read(6)
    file.seek(0)
    return next((kind for magic, kind in _KINDS.items() if begin.startswith(magic)), ".tar")
