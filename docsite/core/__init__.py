"""What every app builds on: the database, ids, paths, redaction, HTTP rules, tenants, access.

`http` holds rules of HTTP and no models. `tenants` holds organizations, projects
and keys. `access` decides who may call which endpoint. Nothing here names an
app: apps register their limits, their CORS rules and their admin pages.
"""
