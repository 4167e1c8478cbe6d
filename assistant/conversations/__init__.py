"""Conversations in the database.

Others import `threads` (open, save and delete conversations), `chat_ids` (ids that clients choose), `report` (what
readers ask), `outcomes` (which questions were answered), `answer_statistics` (counts, costs and times for reports),
`retention` (delete old conversations), `transcript` (an answer as HTML) and `ratings`, where the app with the readers'
feedback registers it.
"""
