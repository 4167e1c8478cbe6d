"""The log of searches: one row for each search with the result that was opened, and a report.

Others import `recording` (store searches and clicks, delete old ones) and `report` (totals by query).
"""
