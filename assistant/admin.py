"""Conversations in the admin, to read and to delete."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
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
        turns = Message.objects.filter(thread=OuterRef("pk")).order_by("pk")
        shown: QuerySet[Any] = threads.annotate(
            question=Subquery(turns.values("content")[:1]), turn_count=Count("messages", distinct=True)
        )
        return shown

    @admin.display(description="Question")
    def first_question(self, thread: Thread) -> str:
        """How the conversation began."""
        return str(getattr(thread, "question", None) or thread.thread_id)[:100]

    @admin.display(description="Messages", ordering="turn_count")
    def turns(self, thread: Thread) -> int:
        """Questions and answers."""
        return int(getattr(thread, "turn_count", 0))
