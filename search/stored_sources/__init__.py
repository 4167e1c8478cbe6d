"""The stored sources of projects. They are read again on schedule, each in a process of its own.

Others import `queue` (enqueue a source), `runs` (read or remove a source in this process), `launcher` (the thread that
starts a process for each source that is due), `worker` (how a process of its own begins and ends), `events` (for
webhooks) and `alerts`.
"""
