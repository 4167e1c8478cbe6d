"""Feedback of readers on pages and answers: received from browsers, exported for the owner.

Others import `schemas`, `store`, `triage` (select, count and change it) and `events` (for webhooks).
"""
