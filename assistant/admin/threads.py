"""The raw rows of conversations in the admin, to read and to delete."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from assistant.models import Message, Thread
from docsite.core.tenants.models import Role
from docsite.core.workspace.scoped_admin import ProjectFilter, ReadOnlyRows, ScopedAdmin


class MessageInline(ReadOnlyRows, admin.StackedInline):
    """The messages of a conversation."""

    model = Message
    fields = readonly_fields = (
        *("role", "content", "state", "caller", "page_path"),
        *("rung", "reason", "steps", "sources", "checks", "hits", "created_at"),
    )


@admin.register(Thread)
class ThreadAdmin(ScopedAdmin):
    """Conversations, newest first."""

    organization = "project__organization"
    deletable = True
    reads = Role.VIEWER
    list_display = ("title", "project", "turns", "created_at")
    list_select_related = ("project",)
    list_filter = (ProjectFilter, "created_at")
    search_fields = ("messages__content", "thread_id")
    ordering = ("-pk",)  # as they began; an index in this order exists
    show_full_result_count = False
    inlines = (MessageInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add the number of messages to each thread that is shown. A join would count those of all threads."""
        messages = Message.objects.filter(thread=OuterRef("pk")).order_by().values("thread")
        count = Subquery(messages.annotate(number=Count("pk")).values("number"))
        threads: QuerySet[Any] = super().get_queryset(request).annotate(turn_count=count)
        return threads

    @admin.display(description="Messages", ordering="turn_count")
    def turns(self, thread: Thread) -> int:
        """The number of questions and answers."""
        return int(getattr(thread, "turn_count", 0) or 0)
