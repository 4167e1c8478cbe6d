"""Feedback of readers on pages and answers: received from browsers, exported for the owner.

Others import `schemas`, `store`, `triage` (select, count and change it), `events` (for webhooks) and `ratings` (for the
assistant).
"""
