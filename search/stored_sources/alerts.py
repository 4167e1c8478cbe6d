"""The alert about sources that could not be read."""

from collections.abc import Collection, Iterator

from docsite.core.notifications.alerts import Problem
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project
from search.models import Source


def find_failed(project: Project, open_causes: Collection[str]) -> Iterator[Problem]:
    """The sources whose last run has failed. While one is read again, nothing changes."""
    for source in Source.objects.filter(project=project).exclude(error="").order_by("pk"):
        if source.state == Source.State.FAILED or str(source.pk) in open_causes:
            yield Problem(
                str(source.pk),
                f"The source {source.name} could not be read",
                f"{redact(source.error)} Readers find its pages as they were read before.",
                f"/admin/search/source/{source.pk}/change/",
            )
