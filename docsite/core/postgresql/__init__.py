"""Django's backend for PostgreSQL (`base`), with a limit of time for each statement and of connections.

`primary` notices that another server answers than before.
"""
