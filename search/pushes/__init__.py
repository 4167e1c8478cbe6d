"""Documentation that its owner sends, as an archive over HTTP: from a CI job, after each change.

A push is received by `docsite.core.access.uploads`, read by a process of its own (`worker`), and reported line by line.
The endpoints of `api` are looked up by name. A command that reads a source in its turn imports `run`.
"""
