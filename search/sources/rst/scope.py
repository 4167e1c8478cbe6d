"""The state of one page while it is read from top to bottom."""

from dataclasses import dataclass, field

from search.sources.rst.site import Site

MAX_INCLUDES = 100  # files that a page includes, directly or through other files
MAX_WORK = 100_000  # lines that docutils visits in one page; a visit takes 10 to 100 microseconds


class TooMuch(Exception):
    """Reading the page would take far longer than its length is worth."""


@dataclass
class Scope:
    """Where the reader is: the page and its site, and the names around.

    `highlight` is the language of code that names none. `classes` are the open class descriptions.
    `roles` holds the base of each role that the page defines.
    `work` is the number of line visits that are left. `includes` counts files, `included` the characters of their
    text, `code` the characters of their code.
    """

    site: Site
    page: str
    work: int = MAX_WORK
    highlight: str = ""
    module: str = ""
    program: str = ""
    domain: str = "py"
    classes: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    includes: int = 0
    included: int = 0
    code: int = 0

    def spend(self, visits: int) -> None:
        """Account for work. Raises TooMuch."""
        self.work -= visits
        if self.work < 0:
            raise TooMuch(f"more than {MAX_WORK} line visits")
