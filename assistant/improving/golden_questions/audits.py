"""What else a run of a project's questions looks at. Apart from `checks`, which imports all that answers."""

from collections.abc import Callable, Sequence

from assistant.models import GoldenQuestion
from docsite.core.tenants.models import Project

audits: list[Callable[[Project, Sequence[GoldenQuestion]], None]] = []  # functions of other apps
