"""Import the page views of access logs.

Others import `importing` (a log into the database), `files` (open a log) and `lines` (a line as a
view).
"""
