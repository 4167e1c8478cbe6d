"""The owner's workspace in the admin: a home, a navigation and reports for each project.

Others import `navigation` (register and render a page of a project), `scoped_admin` (lists that show users only their
own rows), `extensions` (settings and facts of a project), `fields`, `keys`, `health` (facts for the page of limits)
and `reports` (parts that pages share).
"""
