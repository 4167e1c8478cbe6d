"""Conversations as JSON lines, and one as Markdown. They hold no fingerprint (`fp`) of a reader."""

import json
import logging
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from assistant.admin.conversations.listing import Entry, Listing, Page
from assistant.conversations import ratings
from assistant.conversations.ratings import Rating
from assistant.models import Message, Thread
from docsite.core.db import REPORTS, in_db

logger = logging.getLogger(__name__)

BATCH = 500  # conversations that an export reads at once


async def stream_listing(listing: Listing) -> AsyncIterator[bytes]:
    """All conversations of a list as JSON lines, newest first, batch by batch.

    If the database fails, the last line has an `error`: the response cannot have another status by then.
    """
    page: Page | None = None
    try:
        while page is None or page.next:
            page = await in_db(listing.load_page, REPORTS)(page.next if page else None, BATCH)
            yield (await in_db(_format_entries, REPORTS)(page.entries)).encode()
    except Exception:  # a response body must not raise
        logger.exception("The conversations of project %s could not be exported.", listing.project.domain)
        yield b'{"error": "The export is not complete."}\n'


def _format_entries(entries: Sequence[Entry]) -> str:
    messages: dict[int, list[Message]] = {entry.thread: [] for entry in entries}
    for message in Message.objects.filter(thread__in=messages).order_by("pk"):
        messages[message.thread_id].append(message)
    threads = Thread.objects.in_bulk(messages)
    return "".join(format_thread(threads[pk], messages[pk]) for pk in messages if pk in threads)


def format_thread(thread: Thread, messages: Sequence[Message]) -> str:
    """One conversation as a line of JSON."""
    rated = ratings.get_ratings().load(message.pk for message in messages)
    record = {
        "threadId": thread.thread_id,
        "title": thread.title,
        "createdAt": _format_time(thread.created_at),
        "messages": [_describe(message, rated.get(message.pk)) for message in messages],
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def format_markdown(thread: Thread, messages: Sequence[Message]) -> str:
    """One conversation as Markdown: questions as quotes, answers as they were written, with their sources."""
    blocks = [f"# {thread.title or thread.thread_id}", f"{thread.created_at:%Y-%m-%d %H:%M} UTC, {thread.thread_id}"]
    for message in messages:
        if message.role == Message.Role.USER:
            blocks += ["## Question", "\n".join(f"> {line}".rstrip() for line in message.content.splitlines())]
            continue
        blocks += ["## Answer", message.content]
        if message.sources:
            sources = [f"- {source.get('title', '')} <{source.get('url', '')}>" for source in message.sources]
            blocks += ["Sources:", "\n".join(sources)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _describe(message: Message, rating: Rating | None) -> dict[str, Any]:
    common = {
        "messageId": message.message_id,
        "role": message.role,
        "content": message.content,
        "createdAt": _format_time(message.created_at),
    }
    if message.role == Message.Role.USER:
        return common
    return {
        **common,
        "outcome": message.outcome,
        "cutBy": message.cut_by,
        "caller": message.caller,
        "agent": message.agent,
        "pagePath": message.page_path,
        "language": message.language,
        "filters": {"version": message.filter_version, "language": message.filter_language},
        "context": message.context,
        "rung": message.rung,
        "steps": message.steps,
        "reason": message.reason,
        "model": message.model,
        "chance": message.chance,
        "firstTokenMs": message.first_token_ms,
        "totalMs": message.total_ms,
        "promptTokens": message.prompt_tokens,
        "completionTokens": message.completion_tokens,
        "cost": message.cost,
        "sources": message.sources,
        "passages": message.hits,
        "checks": message.checks,
        "feedback": {"helpful": rating.helpful, "comment": rating.comment} if rating else None,
    }


def _format_time(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")
