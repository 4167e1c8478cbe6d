"""Parts that a deployment may do without. Each registers itself at a seam of the service, which never imports it.

`telemetry` sends traces and errors elsewhere. `view_log` acknowledges page views before the database has them.
`openid_connect` is a provider of single sign-on. Each is an app of `settings.py`; those with settings of their own are
named in `docsite/env.py`.
"""
