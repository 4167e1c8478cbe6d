"""Copies of a project's pages and index. A copy costs a tenth of an ingest, and a thousand tests begin with one."""

import copy
import secrets
from dataclasses import replace
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone


class Copies:
    """The pages and the index of a project that was ingested once, for other projects."""

    def __init__(self, project: Any) -> None:
        from search.models import Document, Index, Section, SegmentPart
        from search.postings.segments import Segment

        self._documents = list(Document.indexed.filter(project=project).order_by("pk"))
        self._sections = list(Section.objects.filter(document__project=project).order_by("pk"))
        self._index = Index.objects.get(project=project)
        self._segment = Segment.decode(SegmentPart.objects.get(project=project).data)

    def copy_to(self, project: Any) -> None:
        """Give them to a project without any."""
        from search.models import Document, Generation, Index, Section, SegmentPart
        from search.postings.storage import SegmentList

        name = secrets.token_hex(8)
        with transaction.atomic():
            documents = [_copy(document, project=project) for document in self._documents]
            Document.every.bulk_create(documents)
            new = dict(zip((document.pk for document in self._documents), documents, strict=True))
            sections = [_copy(section, document=new[section.document_id]) for section in self._sections]
            Section.objects.bulk_create(sections)
            segment = replace(
                self._segment,
                ids=np.array([section.pk for section in sections]),
                documents=np.array([section.document_id for section in sections]),
            )
            segments = SegmentList(1, {name: len(sections)}).encode()
            SegmentPart.objects.bulk_create(
                [SegmentPart(project=project, segment=name, number=0, data=segment.encode())]
            )
            Index.objects.bulk_create([_copy(self._index, project=project, segments=segments)])
            Generation.objects.create(project=project, number=1, indexed_at=timezone.now())


def _copy(row: Any, **values: Any) -> Any:
    """An unsaved copy of a stored row, with these values changed."""
    new = copy.copy(row)
    new.pk, new._state.adding = None, True
    for name, value in values.items():
        setattr(new, name, value)
    return new
