"""Feedback of readers on pages and answers: collected from browsers, exported to the owner.

Others import `schemas` and `store`.
"""
