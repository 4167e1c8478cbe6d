"""Groups of questions with the same meaning. Their words decide, so no model is needed.

Vectors do not help: with two models, “install on Linux” was as near to “install on Windows”, and “restore the
database” to “back up the database”, as two questions are that mean the same. An answer that is pinned to a group
would be given to the wrong questions.

Others import `wording` (how alike two questions are), `grouping` (bring new questions into groups), `thumbs` (what
readers thought of an answer), `pins` (the owner's own answer to the questions of a group) and `events` (for webhooks).
`group_index` finds the group that is nearest to a question, and `problems` says why an answer perhaps did not help.
"""
