"""Feedback of readers on pages and answers: received from browsers, exported for the owner.

Others import `schemas`, `store` and `triage` (select, count and change it).
"""
