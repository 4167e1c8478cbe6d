"""Tenants: organizations, their projects, and the API keys of both.

Others import `models`, `validators` (what fields refuse), `roles` (who may open and change what), `log_in_rules` (which
organizations a session opens), `staff` (what a staff user may see), `members` (invitations, and the last owner),
`retention` and, for commands, `management`.
"""
