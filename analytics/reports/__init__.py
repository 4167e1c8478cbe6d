"""Counts of visitors and views of a project (`visitor_counts`), and their `exports` in pages that
agree with each other.

Others also import `audience_counts` and `audience_report` (where readers come from), `filtered_counts` (views that
match several filters), `agent_report` (what agents read), `live_counts` (who reads now) and `annotations`.
"""
