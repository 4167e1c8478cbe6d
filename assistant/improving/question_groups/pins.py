"""Finds the owner's own answer to a reader's question."""

from assistant.answering.question import Pinned
from assistant.improving.question_groups import group_index, wording
from assistant.models import PinnedAnswer
from docsite.core.db import has_row
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit
from search.retrieval import page_reading


def find_pin(project: Project, question: str, filters: Filters) -> Pinned | None:
    """The pinned answer of the group that a question belongs to. None where there is none, or its page is gone."""
    if not has_row(f"SELECT 1 FROM {PinnedAnswer._meta.db_table} WHERE project_id = %s LIMIT 1", project.pk):
        return None  # as for most projects
    pins = PinnedAnswer.objects.filter(project=project)
    group = group_index.find_group(project.pk, wording.terms_of(question))
    pin = pins.filter(group=group).first() if group else None
    passage = find_passage(project, pin.path, pin.anchor, filters) if pin else None
    return Pinned(pin.text, passage) if pin and passage else None


def find_passage(project: Project, path: str, anchor: str = "", filters: Filters = Filters()) -> Hit | None:
    """The section of a page with an anchor, or its first one; None if the index has no such page or section."""
    page = page_reading.read_page(project, path, filters)
    sections = page.sections if page else ()
    return next((hit for hit in sections if not anchor or hit.anchor == anchor), None)
