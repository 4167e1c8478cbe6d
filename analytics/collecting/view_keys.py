"""Know which views are stored, so that a view that is sent again counts once, in all processes.

Each commit stores the keys of its new views as one sorted run of numbers, in the transaction of the views. A process
holds the runs of the projects that it writes for, and reads those that others have added. A transaction that inserts
views of a project keeps others from inserting (`analytics.counting.unsealed`), so nobody misses a key. This takes a
third of the time of a unique index over the views, whose entries lie in no order.
"""

import random
import time
from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analytics.counting.cells import Ints, sort_unique
from analytics.models import ViewKeys
from docsite.core import sql
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache

MAX_BYTES = 512 << 20  # of the keys that a process holds, 8 bytes each: 67 million
MERGE_RUNS = 16  # so many stored runs of about the same length become one
RELOAD_SECONDS = 86_400.0  # after which keys are read again, since the old ones have expired

_DTYPE = "<i8"
_NO_KEYS = np.empty(0, np.int64)
_RUNS_OF_A_QUERY = 200


class Claim(NamedTuple):
    """Which of some keys are new, the first of equal ones, and the new ones sorted."""

    is_new: npt.NDArray[np.bool_]
    keys: Ints


class ProjectKeys:
    """The keys of one project. The runs in memory differ in length, so there are few of them."""

    def __init__(self, project_id: int) -> None:
        self.project_id = project_id
        self.expires_at = time.monotonic() + RELOAD_SECONDS * random.uniform(0.5, 1)  # not all projects at once
        self.runs: list[Ints] = []  # each at least twice as long as the next one
        self.last = 0  # the id of the latest stored run that was read
        self.commits = random.randrange(MERGE_RUNS)  # of this process; commands that commit once merge runs, too

    def read_new_runs(self) -> None:
        """Read the runs that were stored since the last call. An empty one says that those before it are erased."""
        while True:
            rows = sql.fetch_all(
                "SELECT id, keys FROM analytics_viewkeys WHERE project_id = %s AND id > %s ORDER BY id LIMIT %s",
                [self.project_id, self.last, _RUNS_OF_A_QUERY],
            )
            stored = [(pk, np.frombuffer(packed, _DTYPE)) for pk, packed in rows]
            ends = [place for place, (_, keys) in enumerate(stored) if not len(keys)]
            if ends:
                self.runs.clear()
            if stored:
                kept = [_NO_KEYS, *(keys for _, keys in stored[ends[-1] if ends else 0 :])]
                self.add(stored[-1][0], sort_unique(*kept))
            if len(stored) < _RUNS_OF_A_QUERY:
                return

    def add(self, last: int, keys: Ints) -> None:
        """Add the sorted keys of a stored run. Some may be known: runs are merged into others."""
        self.last = last
        self.runs.append(keys[~self.contain(keys)])
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            self.runs[-2:] = [np.sort(np.concatenate(self.runs[-2:]), kind="stable")]  # merges what is sorted

    def contain(self, keys: Ints) -> npt.NDArray[np.bool_]:
        """A mask: which of these keys are known."""
        found = np.zeros(len(keys), bool)
        for run in self.runs:
            if len(run):
                found |= run[np.minimum(np.searchsorted(run, keys), len(run) - 1)] == keys
        return found

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)


_keys_by_project: SizedCache[int, ProjectKeys] = SizedCache()
primary.forget_with(_keys_by_project.clear)


def load(project_id: int) -> ProjectKeys:
    """Load the keys of all views of a project that are stored now.

    The first call of a process may take seconds. So call it before the transaction: within it, `claim` reads only the
    keys that others have added meanwhile. After an error the next call continues where this one stopped.
    """
    known = _keys_by_project.get(project_id)
    if known is None or time.monotonic() > known.expires_at:
        known = ProjectKeys(project_id)
        _keys_by_project.put(project_id, known, 0, MAX_BYTES)
    known.read_new_runs()
    _keys_by_project.put(project_id, known, known.nbytes, MAX_BYTES)
    return known


def claim(known: ProjectKeys, keys: Ints) -> Claim:
    """Find out which keys are new: no stored view of the project has them.

    `known` comes from `load`. Call it after `unsealed.announce_insert`, in the same transaction: then no other process
    inserts views of the project until this one has committed.
    """
    known.read_new_runs()
    ordered, first = np.unique(keys, return_index=True)
    unknown = ~known.contain(ordered)
    is_new = np.zeros(len(keys), bool)
    is_new[first[unknown]] = True
    return Claim(is_new, ordered[unknown])


def store(claims: Mapping[int, Claim], received: int) -> dict[int, int]:
    """Store the new keys of projects in the transaction of their views. Returns the id of the latest run of each
    project, which may be a merged one.

    `received` is the hour. Of the runs of a day, those of about the same length are merged from time to time.
    """
    rows = [
        ViewKeys(project_id=project_id, day=received // 24, keys=keys.astype(_DTYPE).tobytes())
        for project_id, (_, keys) in claims.items()
        if len(keys)
    ]
    ViewKeys.objects.bulk_create(rows, batch_size=200)
    return {row.project_id: _merge_runs(row) if _count_commit(row.project_id) else row.pk for row in rows}


def _count_commit(project_id: int) -> bool:
    """Count a commit of this process. Returns whether it is time to merge runs of the project."""
    known = _keys_by_project.get(project_id)
    if known is None:  # dropped from memory, for the keys of another project
        return random.randrange(MERGE_RUNS) == 0
    known.commits += 1
    return known.commits % MERGE_RUNS == 0


def remember(claims: Mapping[int, Claim], runs: Mapping[int, int]) -> None:
    """Add claimed keys to the cache of this process. Call it after the commit that stored them."""
    for project_id, last in runs.items():
        if known := _keys_by_project.get(project_id):
            known.add(last, claims[project_id].keys)
            _keys_by_project.put(project_id, known, known.nbytes, MAX_BYTES)


def _merge_runs(newest: ViewKeys) -> int:
    """Merge runs of a project's day where many have about the same length. Returns the id of the latest run.

    The merged run has the highest id, so a process that has read only some of the old runs reads it next.
    """
    query = "SELECT LENGTH(keys), id FROM analytics_viewkeys WHERE project_id = %s AND day = %s AND LENGTH(keys) > 0"
    lengths = sql.fetch_all(f"{query} ORDER BY 1", [newest.project_id, newest.day])
    last = newest.pk
    for _, some in groupby(lengths, lambda row: (row[0] // 8).bit_length() // 4):  # a run is up to 16 times as long
        ids = [pk for _, pk in some]
        if len(ids) >= MERGE_RUNS:
            merged = ViewKeys.objects.filter(pk__in=ids)
            parts = [np.frombuffer(packed, _DTYPE) for packed in merged.values_list("keys", flat=True)]
            keys = np.sort(np.concatenate(parts), kind="stable")
            merged.delete()
            last = ViewKeys.objects.create(project_id=newest.project_id, day=newest.day, keys=keys.tobytes()).pk
    return last
