"""Redis as one server, with Sentinel, or as a cluster, by the form of `REDIS_URL`.

Others import `clients` (connections to it, and the exceptions that they raise). Django finds `cache` by name.
"""
