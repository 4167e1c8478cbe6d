"""`manage.py doctor`: what of a set-up does not work, and what to do.

`host` looks at the machine, `stores` at the database and Redis, `service` at accounts, background work and alerts,
`proxy` at how requests arrive, `log_in` at whether people can log in. Apps declare the checks
of what they do in their components (`docsite.core.components`). Each check returns a `Finding`.
"""
