"""Traces for OpenTelemetry and errors for Sentry, if their packages are installed and their variables are set.

Neither gets a question, an address, a key or a path: only the kinds of requests, statuses, times, ids of requests, and
cleaned lines of the log.
"""
