"""The analytics endpoints: export visitors, views, searches and questions; collect views.

Others import `schemas`, `question_schemas` and `paging`: the feedback endpoints share dates,
cursors and pages with these.
"""
