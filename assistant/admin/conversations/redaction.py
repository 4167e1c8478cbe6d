"""Replaces personal data in the stored texts of one conversation."""

from typing import Any

from django.db import transaction

from assistant.admin.conversations import ratings
from assistant.conversations.threads import MAX_TITLE
from assistant.models import Message, Thread
from docsite.core.redaction import redact


def redact_thread(thread: Thread) -> int:
    """Redact the title, the messages, the checked citations and the comments of readers. Returns how many changed."""
    with transaction.atomic():
        messages = list(Message.objects.select_for_update().filter(thread=thread).order_by("pk"))
        changed = [message for message in messages if _redact_message(message)]
        Message.objects.bulk_update(changed, ["content", "checks"], batch_size=100)
        title = redact(thread.title)[:MAX_TITLE]
        is_title_changed = title != thread.title
        if is_title_changed:
            Thread.objects.filter(pk=thread.pk).update(title=title)
        comments = ratings.get_ratings().redact(message.pk for message in messages)
    return len(changed) + comments + is_title_changed


def _redact_message(message: Message) -> bool:
    content = redact(message.content)
    checks: list[dict[str, Any]] = [{**check, "written": redact(check.get("written", ""))} for check in message.checks]
    is_changed = content != message.content or checks != message.checks
    message.content, message.checks = content, checks
    return is_changed
