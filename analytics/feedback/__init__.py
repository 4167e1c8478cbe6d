"""Feedback of readers on pages and answers: received from browsers, exported for the owner.

Others import `schemas` and `store`.
"""
