"""Who may call an endpoint: keys, origins, limits, and the checks that run before each endpoint.

Others import `request_checks` (the first step of an endpoint), `authentication` (callers and
projects by key, domain or id), `origins` (which ones may call a project), `cors_paths` (register the paths that
browsers may call), `uploads` (bodies that go to the disk), `api_middleware` (errors as JSON, the origin of the
service, a 403 for other origins), `last_uses` (of keys), `readers` (which pages the running code may see) and
`reader_tokens` (who a reader is).
"""
