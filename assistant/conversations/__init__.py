"""Conversations in the database.

Others import `threads` (open, save and delete conversations),
`daily_token_limit` (tokens of a project's day), `chat_ids` (ids that clients
choose), `report` (what readers ask), `retention` (delete old conversations)
and `transcript` (an answer as HTML).
"""
