"""The profile `grown` of `docsite/deploy`, started here from Debian's packages: `make grown`, and the runs with faults.

Others import `parts` (one engine that may be killed) and `profile` (all of them, with two web processes and a worker).
"""
