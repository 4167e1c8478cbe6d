"""Conversations in the admin, to read and to delete."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from assistant.models import Message, Thread
from docsite.projects.admin import ReadOnlyRows, ScopedAdmin


class MessageInline(ReadOnlyRows, admin.StackedInline):
    """The turns of a conversation."""

    model = Message
    fields = readonly_fields = (
        *("role", "content", "state", "caller", "page_path"),
        *("rung", "reason", "sources", "hits", "created_at"),
    )


@admin.register(Thread)
class ThreadAdmin(ScopedAdmin):
    """Conversations, newest first."""

    organization = "project__organization"
    deletable = True
    list_display = ("first_question", "project", "turns", "created_at")
    list_select_related = ("project",)
    search_fields = ("messages__content", "thread_id")
    date_hierarchy = "created_at"
    inlines = (MessageInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Threads with what the list shows of them, in one query each."""
        threads = super().get_queryset(request)
        counted: QuerySet[Any] = threads.annotate(turn_count=Count("messages")).prefetch_related("messages")
        return counted

    @admin.display(description="Question")
    def first_question(self, thread: Thread) -> str:
        """How the conversation began."""
        first = next(iter(thread.messages.all()), None)
        return first.content[:100] if first else thread.thread_id

    @admin.display(description="Messages", ordering="turn_count")
    def turns(self, thread: Thread) -> int:
        """Questions and answers."""
        return int(getattr(thread, "turn_count", 0))
