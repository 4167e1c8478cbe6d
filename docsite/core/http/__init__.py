"""Rules of HTTP that every endpoint shares. No models.

Others import `errors`, `body`, `schemas`, `cursor`, `dates`, `client_address`, `ratelimit`, `streams`, `scripts` and
`nul`.
"""
