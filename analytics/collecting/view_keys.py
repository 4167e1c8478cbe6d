"""Know which views are stored, so that a view that is sent again counts once, in all processes.

Each commit stores the keys of its new views as one sorted run of numbers, in the transaction of the views. A process
holds the runs of the projects that it writes for, and reads those that others have added. A transaction that inserts
views of a project keeps others from inserting (`analytics.counting.unsealed`), so nobody misses a key. This takes a
third of the time of a unique index over the views, whose entries lie in no order.
"""

import random
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
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
_RUNS_OF_A_QUERY, _PROJECTS_OF_A_QUERY = 200, 200


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
        self.is_loaded = False  # whether every run was read that was stored at some time
        self.commits = random.randrange(MERGE_RUNS)  # of this process; commands that commit once merge runs, too

    def read(self, stored: Sequence[tuple[int, Ints]]) -> None:
        """Add stored runs by their ids, in their order. An empty one says that those before it are erased."""
        ends = [place for place, (_, keys) in enumerate(stored) if not len(keys)]
        if ends:
            self.runs.clear()
        self.add(stored[-1][0], sort_unique(_NO_KEYS, *(keys for _, keys in stored[ends[-1] if ends else 0 :])))

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
    """The keys of a project: of all views that are stored now, or that were when this process last read them.

    The first call of a process may take seconds. So call it before the transaction: within it, `claim` reads only the
    keys that others have added meanwhile. After an error the next call continues where this one stopped.
    """
    known = _keys_by_project.get(project_id)
    if known is None or time.monotonic() > known.expires_at:
        known = ProjectKeys(project_id)
        _keys_by_project.put(project_id, known, 0, MAX_BYTES)
    if not known.is_loaded:
        read_new_runs([known])
        _keys_by_project.put(project_id, known, known.nbytes, MAX_BYTES)
    return known


def read_new_runs(known: Collection[ProjectKeys]) -> None:
    """Read the runs of projects that were stored since the last call."""
    left = list(known)
    while left:
        by_id = {one.project_id: one for one in left[:_PROJECTS_OF_A_QUERY]}
        marks = ", ".join(["(%s, %s)"] * len(by_id))
        rows = sql.fetch_all(
            f"SELECT run.project_id, run.id, run.keys FROM (VALUES {marks}) AS known JOIN analytics_viewkeys AS run "
            "ON run.project_id = known.column1 AND run.id > known.column2 ORDER BY run.project_id, run.id LIMIT %s",
            [*chain.from_iterable((one.project_id, one.last) for one in by_id.values()), _RUNS_OF_A_QUERY],
        )
        for project_id, stored in groupby(rows, itemgetter(0)):
            by_id[project_id].read([(pk, np.frombuffer(packed, _DTYPE)) for _, pk, packed in stored])
        if len(rows) < _RUNS_OF_A_QUERY:
            del left[:_PROJECTS_OF_A_QUERY]
            for one in by_id.values():
                one.is_loaded = True


def claim(known: Mapping[int, ProjectKeys], keys: Mapping[int, Ints]) -> dict[int, Claim]:
    """Find out, for each project, which keys are new: no stored view of the project has them.

    `known` comes from `load`. Call it after `unsealed.announce_insert`, in the same transaction: then no other process
    inserts views of the projects until this one has committed.
    """
    read_new_runs(known.values())
    return {project_id: _find_new(known[project_id], some) for project_id, some in keys.items()}


def _find_new(known: ProjectKeys, keys: Ints) -> Claim:
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
    for first in range(0, len(rows), _PROJECTS_OF_A_QUERY):
        sql.insert_rows(rows[first : first + _PROJECTS_OF_A_QUERY])
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
