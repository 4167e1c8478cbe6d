"""The wizard for a new project in the admin: from the address of a site to the first question of a reader.

Nobody imports from it.
"""
