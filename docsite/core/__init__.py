"""What every app stands on: settings from the environment, the database, ids, HTTP rules, tenants, access.

`http` holds rules of HTTP without models, `tenants` the organizations, projects
and keys, `access` who may call what. Nothing here names an app.
"""
