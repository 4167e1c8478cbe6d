"""Copies of the database: `backup` makes and restores them, `move` takes all data to another database.

`rows` counts what is in a database, by which each copy is checked.
"""
