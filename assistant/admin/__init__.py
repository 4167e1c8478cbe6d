"""The assistant in the admin.

`conversations`: the conversations of a project, and `threads`: their rows. `settings`: the page of a project's
assistant, with a form to try a question (`preview`). `widget`: the page of its
widget. `golden_questions`: their list, and a button that runs them. `evaluations`: their results.
`health`: facts for the page of limits.
"""

from assistant.admin import conversations, evaluations, golden_questions, health, settings, threads

__all__ = ["conversations", "evaluations", "golden_questions", "health", "settings", "threads"]
