"""The process: URLs, the HTTP API, middleware, Daphne, start and end. It puts the apps together."""
