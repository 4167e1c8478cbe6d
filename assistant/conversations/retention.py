"""Deletes conversations after the retention time that the owner has set."""

from datetime import datetime

from django.db import transaction

from assistant.models import AssistantSettings, Message, Thread
from docsite.core.tenants.retention import list_cutoffs

BATCH = 200  # threads of one transaction, so that questions do not wait for long


def sweep() -> None:
    """Delete conversations after the retention time of their project."""
    for project_id, oldest in list_cutoffs(AssistantSettings, "conversation_days"):
        _delete_older(project_id, oldest)


def _delete_older(project_id: int, oldest: datetime) -> None:
    """Delete the threads whose last message is older than that, with the feedback on them."""
    recent = Message.objects.filter(thread__project=project_id, created_at__gte=oldest).values("thread")
    old = Thread.objects.filter(project=project_id, created_at__lt=oldest).exclude(pk__in=recent).order_by("pk")
    while True:
        with transaction.atomic():
            batch = list(old.select_for_update().values_list("pk", flat=True)[:BATCH])
            if not batch:
                return
            old.filter(pk__in=batch).delete()  # whether they are old is asked again, since a question may have come
