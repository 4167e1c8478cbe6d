"""Feedback in the admin: the list to work through it (`triage`), and the page of each piece (`feedback_detail`)."""

from analytics.admin import feedback_detail, triage
from docsite.core.tenants.models import Role
from docsite.core.workspace import navigation

navigation.add_page(
    "feedback",
    "Feedback",
    group="Questions",
    position=55,
    views=[
        ("", triage.show_feedback, ""),
        ("<str:name>.<str:form>", triage.download_feedback, "file"),
        ("<str:feedback_id>", feedback_detail.show_detail, "detail"),
    ],
    reads=Role.VIEWER,
    acts=Role.WRITER,
    is_report=True,
)
