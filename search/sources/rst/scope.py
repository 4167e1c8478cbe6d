"""What holds at a place of a page: it changes while the page is read from top to bottom."""

from dataclasses import dataclass, field

from search.sources.rst.site import Site

MOST_INCLUDED = 100  # files that a page includes, itself included by them perhaps
MOST_WORK = 30_000_000  # of a page; a unit takes about a quarter of a microsecond, so that all take some ten seconds
BLOCK = 400  # what docutils does for a block in which others stand, however short it is
LIST = 1500  # and for one of which more follow: labels, footnotes, list items that are no bullets


class TooMuch(Exception):
    """Reading the page would take far longer than its length is worth."""


@dataclass
class Work:
    """How much more may be done for a page, in characters that are looked at; what takes longer counts for more.

    `failed` says that a part of the page was left as it is.
    """

    left: int = MOST_WORK
    failed: bool = False

    def spend(self, characters: int) -> None:
        """Account for some work. Raises TooMuch."""
        self.left -= characters
        if self.left < 0:
            raise TooMuch


@dataclass
class Scope:
    """The page and its site; what names belong to (`classes` are those around); and what was said before.

    `highlight` is the language of code that names none, `roles` has the base of each role that the page defines,
    `meta` what it says of itself. `shown` are the characters of code that came from files, `code` has the lines
    of what stands in each.
    """

    site: Site
    page: str
    work: Work
    highlight: str = ""
    module: str = ""
    program: str = ""
    domain: str = "py"
    classes: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    included: int = 0
    shown: int = 0
    code: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
