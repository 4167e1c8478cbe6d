"""Moves all data to another database, of the other kind or of the same one.

`run` does it. `source` and `target` know the two databases, `copying` carries the rows of a table across, and
`id_counters` the counters for new ids.
"""
