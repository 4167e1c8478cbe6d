"""The process: addresses, the HTTP API, middleware, Daphne, start and end. It puts the apps together."""
