"""The rows of both kinds: views and questions."""

from types import ModuleType

from analytics.archive.folder import ArchiveError, Table
from analytics.models import ArchivedRange


def of(kind: str) -> ModuleType:
    """The module that finds and reads the rows of a kind."""
    from analytics.archive import questions, views

    return views if kind == ArchivedRange.Kind.VIEWS else questions


def read(kind: str, project_id: int, first: int, last: int) -> Table:
    """The rows of a range as they are now. Raises `ArchiveError` if a row does not fit into its columns."""
    import pyarrow as pa

    try:
        return of(kind).read(project_id, first, last)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as failure:
        # The log must not repeat what readers wrote, and Arrow's message does.
        raise ArchiveError(
            f"One of the {kind} {first} to {last} of project {project_id} has a value that fits no column "
            f"({type(failure).__name__}). Tell the developers"
        ) from failure
