"""The sections of the page "Limits and health". Apps register theirs."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest, HttpResponse

from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fact:
    """A line of a section. `share` (0 to 1) is drawn as a bar. No fact holds a text of a reader, or an address."""

    label: str
    value: str
    note: str = ""
    share: float | None = None
    state: Literal["", "good", "bad"] = ""

    @property
    def percent(self) -> str:
        """The share as the length of a bar."""
        return f"{min(1.0, max(0.0, self.share or 0)):.1%}"


@dataclass(frozen=True)
class Section:
    """A section with its facts. It has no facts if they could not be read."""

    title: str
    facts: Sequence[Fact] | None


Load = Callable[[Project], Sequence[Fact]]
_sections: list[tuple[int, str, Load]] = []


def add_section(title: str, load: Load, *, position: int) -> None:
    """Add a section to the page of every project. `load` runs every few seconds while somebody watches the page."""
    _sections.append((position, title, load))


def load_sections(project: Project) -> list[Section]:
    """Load all sections by position. One that fails does not hide the others: the page is for such times."""
    return [Section(title, _load(title, load, project)) for _, title, load in sorted(_sections, key=lambda one: one[0])]


def show_page(request: HttpRequest, project: Project) -> HttpResponse:
    """The page, with all facts as they are now."""
    context = {"sections": load_sections(project)}
    return navigation.render(request, "admin/workspace/limits.html", project, "Limits and health", context)


def _load(title: str, load: Load, project: Project) -> Sequence[Fact] | None:
    try:
        return load(project)
    except Exception:
        logger.exception("The section “%s” of project %s could not be read.", title, project.domain)
        return None
