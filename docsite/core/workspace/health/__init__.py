"""The page "Limits and health" of a project, which updates itself over a socket.

An app adds a section with facts in its `admin` package (`sections`). `page` shows them, and `socket` sends them again
when they change.
"""
