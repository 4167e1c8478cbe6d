"""Which pages the running code may see: public ones, those of a reader's groups too, or all.

The groups are a context variable: tasks and the threads of `in_db` inherit them. Code that sets nothing sees public
pages only, so forgetting to set it shows too little and never too much.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager
from contextvars import ContextVar

from docsite.core import context
from docsite.core.unicode.normalization import normalize

MAX_GROUPS = 50  # of a reader or a page
MAX_NAME = 64  # characters of a group
EVERYBODY = "public"  # a page of this group is public

Groups = frozenset[str]
PUBLIC: Groups = frozenset()

_groups: ContextVar[Groups | None] = ContextVar("reader_groups", default=PUBLIC)


def reader_groups() -> Groups | None:
    """The groups whose pages may be seen, beside the public pages; None: every page."""
    return _groups.get()


def set_reader_groups(groups: Groups | None) -> None:
    """Set what may be seen from now on in this task: for the start of a request."""
    _groups.set(groups)


def read_as(groups: Groups | None) -> AbstractContextManager[Groups | None]:
    """Within the block, see what a reader of these groups sees; None: every page."""
    return context.bind(_groups, groups)


def narrow(groups: Collection[str] | None) -> Groups | None:
    """Those of the present groups that are among these, so it never adds one. None: all of the present groups."""
    present = reader_groups()
    if groups is None:
        return present
    wanted = frozenset(map(normalize_group, groups))
    return wanted if present is None else present & wanted


def normalize_group(name: str) -> str:
    """The name of a group as it is stored: names that differ only in case or spaces around them are one group.

    Raises ValueError with the rest of a sentence that begins with the name of the field.
    """
    plain = normalize("NFC", name.strip()).casefold()
    if not 0 < len(plain) <= MAX_NAME or "," in plain or not plain.isprintable():
        raise ValueError(f"has a group that is not 1 to {MAX_NAME} printable characters without a comma")
    return plain


def normalize_groups(names: Collection[str]) -> tuple[str, ...]:
    """Some groups as they are stored, each once, in their order. Raises ValueError as `normalize_group` does."""
    groups = tuple(dict.fromkeys(map(normalize_group, names)))
    if len(groups) > MAX_GROUPS:
        raise ValueError(f"has more than {MAX_GROUPS} groups")
    return groups


def parse_groups(text: str) -> tuple[str, ...]:
    """Groups with commas between them, as owners write them. Raises ValueError as `normalize_groups` does."""
    return normalize_groups([name for name in text.split(",") if name.strip()])


def encode_groups(groups: Collection[str]) -> str:
    """The groups of a page as a column holds them: each with a line end before and after it.

    So a query finds whole names only. Empty for a page that everybody sees.
    """
    return "\n".join(["", *groups, ""]) if groups and EVERYBODY not in groups else ""


def decode_groups(column: str) -> tuple[str, ...]:
    """The groups of a column."""
    return tuple(name for name in column.split("\n") if name)
