"""The Django project of the service.

`core` is the ground that every app stands on, `site` the documentation site of
the service itself, and `server` puts the apps together and runs them. `core`
knows nobody above it; `server` knows everybody.
"""
