"""The state of one page while it is parsed from top to bottom."""

from dataclasses import dataclass, field

from search.sources import Problem
from search.sources.rst.site import Site

MAX_INCLUDES = 100  # files that a page includes, directly or through other files
MAX_WORK = 100_000  # lines that docutils visits in one page; a visit takes 10 to 100 microseconds


class PageTooComplex(Exception):
    """Parsing the page would take far longer than its length justifies."""


@dataclass
class Scope:
    """The page and its site, the names that are valid here, and the limits that are left.

    - `work`: line visits that are left
    - `highlight`: the language of code that names none
    - `classes`: the classes whose descriptions are open, innermost last
    - `roles`: the base role of each role that the page defines
    - `problems`: what of the page is lost
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
    include_count: int = 0
    included_characters: int = 0
    code_characters: int = 0
    problems: list[Problem] = field(default_factory=list)

    def spend(self, visits: int) -> None:
        """Subtract work. Raises PageTooComplex."""
        self.work -= visits
        if self.work < 0:
            raise PageTooComplex(f"more than {MAX_WORK} line visits")
