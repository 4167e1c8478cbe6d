"""Three months of invented readers for the demo: conversations, searches and feedback, each marked as a sample.

The questions are invented. Their answers are those that the service really gives from the demo's pages. Every run
makes the same rows; only their times follow the clock.

`analytics.sample_rows` finds and removes them, also where the demo is left out.
"""
