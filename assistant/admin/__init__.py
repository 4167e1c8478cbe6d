"""The assistant in the admin.

`conversations`: the conversations of a project. `settings`: the page of a project's
assistant, with a form to try a question (`preview`). `widget`: the page of its
widget. `golden_questions`: their list, and a button that runs them. `evaluations`: their answers as readers get them.
`gaps` and `questions`: what readers ask, and what is missing; extras add lines to a gap (`gap_group`).
`health`: facts for the page of limits.
`support_requests`: what readers ask a person. `costs`: what models cost, and limits in money.
"""

from assistant.admin import (
    conversations,
    costs,
    evaluations,
    gaps,
    golden_questions,
    health,
    questions,
    settings,
    support_requests,
)
