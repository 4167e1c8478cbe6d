"""The assistant in the admin: conversations, settings with a preview, the widget, golden questions."""

from assistant.admin import conversations, golden_questions

__all__ = ["conversations", "golden_questions"]
