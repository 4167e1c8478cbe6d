"""Conversations in the database: threads and their messages, the report over them, a transcript as HTML."""
