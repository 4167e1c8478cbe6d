"""The process: URLs, the HTTP API, middleware, Daphne, start and end. It puts the apps together.

`docsite.asgi` takes the application from `routing` and `handlers`, and its start and end from `lifecycle`.
"""
