"""Segments in the database, and in files that the processes of a host share.

`Index.segments` lists the segments of a project. Those that it does not list are left over from an ingest. The list
changes in the transaction that swaps an index in.
"""

import json
import os
import secrets
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction

from docsite.core.tenants.models import Project
from search.models import Index, SegmentPart
from search.postings.search_index import SearchIndex
from search.postings.segments import Segment, merge

PART = 4_000_000  # bytes of a row, so that no transaction takes long
MAPPED = 16_000_000  # bytes; a larger segment is mapped from a file
SMALL = 2_000  # sections; a segment with fewer is merged with whatever is added
GROWTH = 4  # a segment with at most so many times the sections that are added is merged with them


@dataclass(frozen=True)
class SegmentList:
    """The segments of an index: their numbers of sections by name, and the ids of the sections that are gone.

    `generation` is that of the index.
    """

    generation: int = 0
    segments: Mapping[str, int] = field(default_factory=dict)
    gone: Sequence[int] = ()

    def encode(self) -> bytes:
        """The bytes of `Index.segments`."""
        return zlib.compress(json.dumps(asdict(self)).encode(), 3)

    @classmethod
    def decode(cls, stored: bytes | memoryview | None) -> "SegmentList":
        """Decode the bytes of `encode`; without any, there is no segment."""
        return cls(**json.loads(zlib.decompress(stored))) if stored else cls()


def read_list(project: Project) -> SegmentList:
    """The segments of the visible index."""
    return SegmentList.decode(Index.objects.filter(pk=project.pk).values_list("segments", flat=True).first())


def load_index(project: Project, stored: SegmentList, known: Mapping[str, Segment]) -> SearchIndex:
    """The index of these segments. Those that are `known` by their names are not read again."""
    segments = {name: known.get(name) or _load(project, name) for name in stored.segments}
    delete_files(project, segments)
    return SearchIndex(segments, stored.gone)


def extend(
    project: Project, staged: Sequence[Segment], stale: Sequence[int], generation: int, claim: Callable[[], None]
) -> SegmentList:
    """Store a segment of the staged ones. Returns the list of the new index, without the stale sections.

    Small segments become part of the new one, and every segment where a quarter of the sections are gone. So an index
    has few segments, and a small change of a large index writes little. Each transaction begins with `claim`.
    """
    visible = read_list(project)
    gone = np.union1d(np.array(visible.gone, np.int64), np.array(stale, np.int64))
    is_removal = not staged  # such as that of a source: its words must not stay in a segment
    has_many_gone = is_removal or len(gone) * GROWTH > sum(visible.segments.values())
    segments: dict[str, int] = {}
    merged = list(staged)
    added = sum(len(segment.ids) for segment in staged)
    for name, sections in sorted(visible.segments.items(), key=lambda one: one[1]):
        if has_many_gone or sections < SMALL or sections <= GROWTH * added:
            merged.append(_load(project, name))
            added += sections
        else:
            segments[name] = sections
    new = merge(merged, gone)
    if len(new.ids):
        segments[_store(project, new, claim)] = len(new.ids)
    gone = gone[~np.isin(gone, np.concatenate([segment.ids for segment in merged]))] if merged else gone
    return SegmentList(generation, segments, gone.tolist())


def discard(project: Project) -> None:
    """Delete the segments that the visible index does not have, and their files on this host."""
    names = list(read_list(project).segments)
    SegmentPart.objects.filter(project=project).exclude(segment__in=names).delete()
    delete_files(project, names)


def _store(project: Project, segment: Segment, claim: Callable[[], None]) -> str:
    """Write a segment. Returns its new name."""
    name = secrets.token_hex(8)
    data = segment.encode()
    for number, at in enumerate(range(0, len(data), PART)):
        with transaction.atomic():
            claim()
            SegmentPart.objects.create(project=project, segment=name, number=number, data=data[at : at + PART])
    return name


def _load(project: Project, name: str) -> Segment:
    file = _folder() / f"{project.pk}-{name}"
    with suppress(FileNotFoundError, NotADirectoryError):
        return Segment.decode(np.memmap(file, np.uint8, "r"))
    rows = SegmentPart.objects.filter(project=project, segment=name).order_by("number")
    data = b"".join(rows.values_list("data", flat=True))
    if len(data) >= MAPPED:
        with suppress(OSError):  # a full disk, or another process deletes drafts: then it stays in memory
            _write(file, data)
            return Segment.decode(np.memmap(file, np.uint8, "r"))
    return Segment.decode(data)


def _write(file: Path, data: bytes) -> None:
    """Write a file as a whole: no process sees a part of it, also after a power failure."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    draft = file.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
    with draft.open("wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)


def delete_files(project: Project, names: Iterable[str] = ()) -> None:
    """Delete the project's files on this host, except those of some segments. Whoever has mapped one keeps it."""
    kept = {f"{project.pk}-{name}" for name in names}
    for file in _folder().glob(f"{project.pk}-*"):
        if file.name not in kept:
            file.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "segments"
