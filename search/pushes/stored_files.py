"""The files of the last push of a source, by their SHA-256, so that the next push need not send them again."""

import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from search.models import PushedFile, Source
from search.pushes import archive
from search.sources import archives

DIGEST = re.compile("[0-9a-f]{64}")
FILES_PER_STEP = 100


def find_missing(source: Source | None, files: Mapping[str, str]) -> list[str]:
    """The paths that a push must send: one for each digest that is not stored. Other kinds of files are left out."""
    stored = _stored_digests(source)
    wanted = {digest: path for path, digest in files.items() if digest not in stored and archive.is_text(path)}
    return sorted(wanted.values())


def complete(source: Source | None, folder: Path, received: Mapping[str, str]) -> dict[str, str]:
    """Add the stored files to the unpacked files of a delta. Returns the digests of all files of the manifest.

    Raises ValueError when the manifest is missing or not valid, or a file is neither sent nor stored.
    """
    manifest = folder / archive.MANIFEST
    if not manifest.is_file():
        raise ValueError(f"delta: the archive has no {archive.MANIFEST}")
    wanted = {path: digest for path, digest in _parse(manifest.read_bytes()).items() if archive.is_text(path)}
    manifest.unlink()
    received = {path: digest for path, digest in received.items() if path != archive.MANIFEST}
    for path in received.keys() - wanted.keys():
        raise ValueError(f"delta: the manifest does not list {path[:100]!r}")
    for path in received.keys() & wanted.keys():
        if received[path] != wanted[path]:
            raise ValueError(f"delta: {path[:100]!r} has another digest than in the manifest")
    places: dict[str, list[str]] = {}
    for path in wanted.keys() - received.keys():
        places.setdefault(wanted[path], []).append(path)
    budget = archives.Budget(archive.NAME, archives.MAX_BYTES)
    for path, digest in received.items():  # a file with the same content may have been sent under another name
        for copy in places.pop(digest, ()):
            _write(folder / copy, (folder / path).read_bytes(), budget)
    digests = list(places)
    for at in range(0, len(digests), FILES_PER_STEP):
        rows = PushedFile.objects.filter(source=source, digest__in=digests[at : at + FILES_PER_STEP])
        for row in rows if source else ():
            for path in places.pop(row.digest):
                _write(folder / path, zlib.decompress(bytes(row.content)), budget)
    if places:
        path = min(paths[0] for paths in places.values())
        raise ValueError(f"delta: {len(places)} files are neither sent nor stored, such as {path[:100]!r}")
    return wanted


def replace(source: Source, folder: Path, files: Mapping[str, str]) -> None:
    """Store the files of a push, and delete those of earlier pushes that it does not have."""
    stored = _stored_digests(source)
    new = {digest: path for path, digest in files.items() if digest not in stored}
    digests = list(new)
    for at in range(0, len(digests), FILES_PER_STEP):
        PushedFile.objects.bulk_create(
            [
                PushedFile(source=source, digest=digest, content=zlib.compress((folder / new[digest]).read_bytes()))
                for digest in digests[at : at + FILES_PER_STEP]
            ],
            ignore_conflicts=True,
        )
    gone = sorted(stored - set(files.values()))
    for at in range(0, len(gone), FILES_PER_STEP):
        PushedFile.objects.filter(source=source, digest__in=gone[at : at + FILES_PER_STEP]).delete()


def _stored_digests(source: Source | None) -> set[str]:
    return set(PushedFile.objects.filter(source=source).values_list("digest", flat=True)) if source else set()


def _parse(raw: bytes) -> dict[str, str]:
    """The files of a manifest. Raises ValueError with a sentence."""
    try:
        files = json.loads(raw)["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f'delta: {archive.MANIFEST} is no JSON object like {{"files": {{}}}}') from None
    if not isinstance(files, dict) or len(files) > archives.MAX_FILES:
        raise ValueError(f"delta: files: must be an object of at most {archives.MAX_FILES:,} paths")
    for path, digest in files.items():
        check_file(path, digest)
    return files


def check_file(path: str, digest: object) -> None:
    """Raise ValueError for a path that leads out of the folder, and for what is no SHA-256."""
    if archives.check_path(path, archive.NAME) != path or not path:
        raise ValueError(f"files: {path[:100]!r} is no relative path")
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise ValueError(f"files: {path[:100]!r} has no SHA-256 in small hexadecimal letters")


def _write(path: Path, content: bytes, budget: archives.Budget) -> None:
    """Write a file of the manifest. Raises ValueError if another file stands where its folder must be."""
    budget.count_bytes(len(content))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError:
        raise ValueError(f"delta: {path.name[:100]!r} cannot be written: a file has the name of a folder") from None
