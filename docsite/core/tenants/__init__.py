"""Tenants: organizations, their projects, and the API keys of both.

Others import `models`, `admin` (pages that show users only their own rows), `admin_extensions`
(register links and settings of a project), `login`, `retention` and, for commands, `management`.
"""
