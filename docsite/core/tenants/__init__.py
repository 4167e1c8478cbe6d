"""Tenants: organizations, their projects, and the API keys of both.

Others import `models`, `staff` (what a staff user may see), `login`, `retention` and, for commands, `management`.
"""
