"""Readers ask: over HTTP (`api`) and over the socket (`consumers`). `start` turns a question into a running answer.

Others import `askers` (who asks), `start` (start an answer for the page `/ask` or an agent; end all answers before the
process ends), `schemas` (the bodies of requests), `rate_limits` (how often a reader may ask), and `erasure` (erase a
reader's conversations and support requests).
"""
