"""Three months of invented readers for the demo: conversations, searches and feedback, each marked as a sample.

The questions are invented. Their answers are those that the service really gives from the demo's pages. Every run
makes the same rows; only their times follow the clock.

Others import `life` (create) and `removal` (find and remove).
"""
