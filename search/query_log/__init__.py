"""The log of searches: one row for each search with the result that was opened, and a report.

Others import `folding` (all spellings of a query as one), `recording` (store searches and clicks, delete old ones),
`report` (totals by query, for the API) and `totals` (the numbers of the page in the admin).
"""
