"""The Django project of the service.

Every app builds on `core`. `site` is the documentation site of the service
itself. `server` combines the apps and runs them. `core` imports nothing
of these; `server` imports everything.
"""
