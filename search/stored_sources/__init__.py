"""The stored sources of projects. They are read again on schedule, each in a process of its own.

Others import `queue` (enqueue a source), `runs` (read or remove a source in this process), `scheduler` (start and stop
its thread), `worker` (how a process of its own begins and ends), `events` (for webhooks) and
`alerts`.
"""
