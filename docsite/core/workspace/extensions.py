"""What the apps add to a project's pages in the admin: settings of their own, parts of the keys page.

An app registers them in its `admin` module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Field, Model
from django.http import HttpRequest

from docsite.core.tenants.models import Project


@dataclass(frozen=True)
class SettingsFields:
    """Fields of an app's settings row, edited below a heading on the page of its project.

    The model has a `project` field.
    """

    heading: str
    model: type[Model]
    names: tuple[str, ...]

    @property
    def fields(self) -> "list[Field[Any, Any]]":
        """The model's fields."""
        return [self.model._meta.get_field(name) for name in self.names]  # type: ignore[misc]  # no relations


PRIVACY = "Privacy and retention"  # the heading of fields that more than one app has

settings: list[SettingsFields] = []
key_uses: list[str] = []  # templates
_notices: list[Callable[[HttpRequest, Project], str]] = []


def add_settings(heading: str, model: type[Model], *names: str) -> None:
    """Let owners edit fields of an app's settings row on the page of a project. Equal headings share a block."""
    settings.append(SettingsFields(heading, model, names))


def add_key_use(template: str) -> None:
    """Show how to use a key, below the keys of a project.

    The template gets `project`, `base_url` (of this service) and `sample_key`: the new key, or a placeholder.
    """
    key_uses.append(template)


def add_notice(find: Callable[[HttpRequest, Project], str]) -> None:
    """Show a notice above every page of a project. `find` returns its HTML, or an empty text for none."""
    _notices.append(find)


def notices(request: HttpRequest, project: Project) -> list[str]:
    """The notices about a project, as HTML."""
    return [notice for notice in (find(request, project) for find in _notices) if notice]
