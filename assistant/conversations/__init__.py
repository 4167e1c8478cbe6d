"""Conversations in the database.

Others import `threads` (open, save and delete conversations),
`budget` (what answers use of it), `budget_limits` (what models may cost a project), `model_prices`,
`chat_ids` (ids that clients choose),
`report` (what readers ask), `answer_statistics` (counts, costs and times for reports),
`retention` (delete old conversations) and `transcript` (an answer as HTML).
"""
