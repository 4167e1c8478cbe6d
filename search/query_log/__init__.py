"""The log of searches: one row for each search with the result that was opened, and its numbers.

Others import `folding` (all spellings of a query as one), `recording` (store searches and clicks, delete old ones),
and `totals` (the numbers that the admin and the API show).
"""
