"""Views that arrived on three days, for the files of the page Growing."""

import random
import time
from datetime import UTC, datetime

from analytics.models import PageView
from tests.analytics.counting.crashes import new_project, record
from tests.analytics.counting.history import history

COLUMNS = ("pk", "project__project_id", "at", "client_class", "surface", "visitor", "user_agent")


def store() -> None:
    """Store views of two projects, and of the sample. Prints the rows of those that arrived yesterday."""
    yesterday = int(time.time()) // 86_400 - 1
    hours = (yesterday * 24 - 1, yesterday * 24, yesterday * 24 + 23, yesterday * 24 + 24)
    for project in (new_project(), new_project()):
        record(project, history(random.Random(project.pk), 120, 3, datetime.now(UTC)))
        for number, view in enumerate(project.views.order_by("pk")):
            project.views.filter(pk=view.pk).update(received=hours[number % 4], sample=number % 10 == 9)
    views = PageView.objects.filter(received__in=hours[1:3], sample=False).order_by("pk")
    for row in views.values_list(*COLUMNS):
        print(*row, sep="|")  # noqa: T201
