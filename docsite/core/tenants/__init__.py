"""What every app stands on: organizations, their projects, and the keys that open them.

Others import `models`, `admin` (pages that show users only their own rows), `admin_extensions`
(register links and settings of a project), `login` and, for commands, `management`.
"""
