"""What readers searched for: one row for each search, the result they opened, and the report over
both.

Others import `recording` (store searches and clicks), `report` (totals by query) and `sweeper` (the
thread that forgets).
"""
