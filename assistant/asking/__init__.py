"""Readers ask: over HTTP (`api`), over the socket (`consumers`), and in other places of the service (`start`).

Others import `askers` (who asks), `start` (start an answer, end all of them), `schemas` (the bodies of requests),
`limits` (how often a reader may ask), and `erasure` (erase conversations and requests of readers).
"""
