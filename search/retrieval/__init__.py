"""A query in, hits out: parsing, candidates, ranking, excerpts.

Others import `index` (search for readers), `passages` (search for the
assistant), `answerability` (whether the passages answer), `links` (addresses of
pages) and `explain` (why a hit has its score).
"""
