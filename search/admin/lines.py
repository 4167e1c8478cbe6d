"""Rules that owners write as lines of text, one column of `SearchSettings` for each kind of them."""

import hashlib

from django.db import transaction

from docsite.core.tenants.models import Project
from search.models import SearchSettings


def load(project: Project, field: str) -> str:
    """The stored lines."""
    return str(SearchSettings.objects.filter(project=project).values_list(field, flat=True).first() or "")


def save(project: Project, field: str, text: str, revision: str | None) -> str:
    """Store the lines, unless somebody has changed them since `revision` (None: never). Returns the error."""
    with transaction.atomic():
        SearchSettings.objects.get_or_create(project_id=project.pk)
        row = SearchSettings.objects.select_for_update().get(project_id=project.pk)
        if revision is not None and revision != get_revision(getattr(row, field)):
            return "Somebody else has changed these lines meanwhile. Copy yours, load the page again, and add them."
        setattr(row, field, text)
        row.save(update_fields=[field])
    return ""


def clean(text: str) -> str:
    """Typed text with one kind of line end, and without what databases refuse."""
    return "\n".join(line.rstrip() for line in text.replace("\0", "").splitlines()).strip("\n")


def get_revision(text: str) -> str:
    """A short digest, by which a form knows the lines that it was made of."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
