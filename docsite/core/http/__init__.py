"""Rules of HTTP that every endpoint shares. No models.

Others import `errors`, `body`, `schemas`, `cursor`, `dates`, `client_address`, `ratelimit`, `limit_use`,
`open_sockets`, `cpu_time`, `streams`, `scripts` and `nul`.
"""
