"""Counts of visitors and views of a project (`visitor_counts`), and their `exports` in pages that
agree with each other.
"""
