"""The assistant in the admin.

`threads`: conversations, to read and to delete. `settings`: the page of a project's
assistant, with a form to try a question (`preview`). `widget`: the page of its
widget. `golden_questions`: their list, and a button that runs them. `evaluations`: their results.
`gaps` and `questions`: what readers ask, and what is missing.
"""

from assistant.admin import evaluations, gaps, golden_questions, questions, settings, threads

__all__ = ["evaluations", "gaps", "golden_questions", "questions", "settings", "threads"]
