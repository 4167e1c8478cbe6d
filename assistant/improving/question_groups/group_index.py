"""The groups of a project in memory, to find the one that is nearest to a question."""

import threading
from collections import Counter, OrderedDict, defaultdict

from assistant.improving.question_groups import wording
from assistant.models import QuestionGroup
from docsite.core import sql
from docsite.core.postgresql import primary

MAX_PROJECTS = 32
MAX_COMMON = 2000  # groups with a term; a term that more groups have is looked up only if the question has no other


class GroupIndex:
    """Finds groups by their terms. Of equally near groups the oldest is found, so that the order decides nothing."""

    def __init__(self, epoch: int = 0) -> None:
        self.epoch = epoch
        self.last = 0  # id of the newest group
        self._terms: dict[int, frozenset[str]] = {}
        self._groups: dict[str, list[int]] = defaultdict(list)

    def add(self, pk: int, terms: frozenset[str]) -> None:
        """Add a group."""
        self.last = max(self.last, pk)
        self._terms[pk] = terms
        for term in terms:
            self._groups[term].append(pk)

    def find(self, terms: frozenset[str]) -> int | None:
        """The id of the nearest group that is near enough."""
        postings = sorted((self._groups[term] for term in terms if term in self._groups), key=len)
        rare = [groups for groups in postings if len(groups) <= MAX_COMMON] or postings[:1]
        candidates = Counter[int]()
        for groups in rare:
            candidates.update(groups)
        best, nearest = wording.MIN_LIKENESS, None
        for pk, shared in candidates.items():
            others = self._terms[pk]
            if 2 * (shared + len(postings) - len(rare)) < best * (len(terms) + len(others)):
                continue
            likeness = wording.likeness(terms, others)
            if likeness > best or (likeness == best and (nearest is None or pk < nearest)):
                best, nearest = likeness, pk
        return nearest


_indexes: OrderedDict[int, GroupIndex] = OrderedDict()
_lock = threading.Lock()
_epoch = 0  # of the indexes that may be used


def find_group(project_id: int, terms: frozenset[str]) -> int | None:
    """The id of the group that a question with these terms belongs to; None if no group is near enough."""
    with _lock:
        return _load(project_id).find(terms)


def add_group(project_id: int, pk: int, terms: frozenset[str]) -> None:
    """Add a group that was just stored."""
    with _lock:
        _load(project_id)
        if pk > _indexes[project_id].last:
            _indexes[project_id].add(pk, terms)


def forget(project_id: int) -> None:
    """Load the groups again at the next question: some were deleted."""
    with _lock:
        _indexes.pop(project_id, None)


def _forget_all() -> None:
    """Use no index any more that is loaded now. Statements run under the lock, so it does not wait for that."""
    global _epoch
    _epoch += 1


primary.forget_with(_forget_all)


def _load(project_id: int) -> GroupIndex:
    """The index of a project, with the groups that were added since its last use."""
    index = _indexes.pop(project_id, None)
    if index is None or index.epoch != _epoch:
        index = GroupIndex(_epoch)
    # Twice for each question, and the ORM takes several times as long.
    query = f"SELECT id, terms FROM {QuestionGroup._meta.db_table} WHERE project_id = %s AND id > %s ORDER BY id"
    for pk, terms in sql.fetch_all(query, [project_id, index.last]):
        index.add(pk, frozenset(terms.split()))
    _indexes[project_id] = index
    while len(_indexes) > MAX_PROJECTS:
        _indexes.popitem(last=False)
    return index
