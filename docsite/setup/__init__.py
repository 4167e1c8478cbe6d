"""The wizard for a new project in the admin: from the address of a site to the first question of a reader.

Others import `forms` (the field for an address) and `drafts` (a free domain for a site).
"""
