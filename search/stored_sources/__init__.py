"""Sources that a project keeps and that are read again on schedule, each in a process of its own.

Others import `queue` (have a source read), `runs` (read it here, remove it) and
`scheduler` (start and stop its thread).
"""
