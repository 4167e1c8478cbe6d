"""`manage.py doctor`: what of a set-up does not work, and what to do.

`host` looks at the machine, `stores` at the database and Redis, `proxy` at how requests arrive. Apps declare the checks
of what they do in their components (`docsite.core.components`). Each check returns a `Finding`.
"""
