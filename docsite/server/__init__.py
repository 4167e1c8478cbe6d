"""Runs the service: URLs, the HTTP API, middleware, Daphne, start and shutdown. It combines the apps.

`docsite.asgi` takes the application from `routing` and `handlers`, and its start and end from `lifecycle`,
and its settings of `memory`. The extra `doctor` asks `health`, `demo` serves with `daphne`, and `mcp`
adds its addresses by `api_additions`.
"""
