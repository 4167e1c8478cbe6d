"""The conversations of a project: a list with filters (`list_page`), a reader (`thread_pages`), and exports."""

from functools import partial

from assistant.admin.conversations import list_page, thread_pages
from docsite.core.tenants.models import Role
from docsite.core.workspace import navigation

navigation.add_page(
    list_page.KEY,
    "Conversations",
    group="Questions",
    position=42,
    views=[
        ("", list_page.show_list, ""),
        ("export.jsonl", list_page.export_list, "lines"),
        ("<slug:thread_id>", thread_pages.show_thread, "read"),
        ("<slug:thread_id>/redact", thread_pages.redact, "redact"),
        ("<slug:thread_id>/export.jsonl", partial(thread_pages.export, ending="jsonl"), "thread_lines"),
        ("<slug:thread_id>/export.md", partial(thread_pages.export, ending="md"), "markdown"),
    ],
    reads=Role.VIEWER,
    acts=Role.WRITER,
    is_report=True,
)
