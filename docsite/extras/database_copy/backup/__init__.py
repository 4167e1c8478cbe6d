"""Backups: a consistent copy of the database and the signing key, made while the service runs, and the way back.

`folder` makes and restores a backup. `sqlite` and `postgresql` copy the database.
"""
