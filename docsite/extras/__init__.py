"""Optional parts. Each registers itself with the service at the start, and the service never imports it.

`telemetry` sends traces and errors to other services. `view_log` acknowledges page views before the database has them.
`openid_connect` lets people log in at an OpenID Connect provider.
`try_docs` makes a project for a day of any address.
`replay` says what a change does to readers' questions.
`dead_ends` keeps addresses without a page, and writes redirects.
`web_bot_auth` checks the signatures of agents.
`mcp` serves the documentation to coding agents,
`agent_pages` the pages as Markdown, also on the owner's site.
`access_logs` imports page views from the logs of web servers, `agent_addresses` stores the addresses of agents,
`conformance` checks whether a running service speaks the contract, `model_check` whether a model server is fit for it,
`doctor` says what of a set-up does not work, `database_copy` makes backups and moves all data to another database, and
`demo` shows the service with its own documentation: each is one or more commands. Each is an app in `settings.py`;
those with settings are listed in `docsite/env.py`. Only `mkdocs_plugin` is no app: it runs in MkDocs.
"""
