"""`manage.py doctor`: what of a set-up does not work, and what to do. Others import `examination` only.

`host` looks at the machine, `stores` at the database and Redis, `services` at the model, the mail server and the work
in the background, `proxy` at how requests arrive. Each of their checks returns a `Finding`.
"""
