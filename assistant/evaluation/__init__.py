"""Evaluation: asks a file of real questions, and tells what share is answered rightly and what changed.

Others import `questions`, which reads a file, `run`, which asks and scores, `scoring` for the rows of a run, and
`report` for its figures and its comparison with an earlier run.
"""
