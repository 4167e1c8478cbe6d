"""The folded text of a query: all spellings that differ only in case are one query."""

from docsite.core.tenants.models import Project
from docsite.core.unicode.normalization import normalize
from search.models import SearchQuery

MAX_LENGTH = 400  # characters; folding can make a text longer
BATCH = 1000


def fold(text: str) -> str:
    """A query without case, the same for all its spellings. Databases fold different alphabets, so Python does it."""
    return normalize("NFC", text.casefold())


def fold_for_storage(text: str) -> str:
    """The folded text as the column `folded` has it."""
    return fold(text)[:MAX_LENGTH]


def fill_missing(project: Project) -> None:
    """Fold the searches that a process of an earlier release stored. Usually there are none."""
    while rows := list(SearchQuery.objects.filter(project=project, folded=None).order_by().only("text")[:BATCH]):
        for row in rows:
            row.folded = fold_for_storage(row.text)
        SearchQuery.objects.bulk_update(rows, ["folded"])
