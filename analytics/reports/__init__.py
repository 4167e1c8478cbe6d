"""Counts of visitors and views of a project.

Others import `visitor_counts`, `audience_counts` (where readers come from), `audience_report` (the same in rows),
`filtered_counts` (several filters at once), `agent_report` (what agents read), `annotations`, `exports` (pages of rows
that agree with each other) and `digest` (for e-mail). `window` says how exact the ends of a range are.
"""
