"""Optional parts. Each registers itself with the service at the start, and the service never imports it.

`telemetry` sends traces and errors to other services. `view_log` acknowledges page views before the database has them.
`openid_connect` lets people log in at an OpenID Connect provider. Each is an app in `settings.py`; those with settings
are listed in `docsite/env.py`.
"""
