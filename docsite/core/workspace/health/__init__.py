"""The page "Limits and health" of a project. A script loads it again and again while somebody looks at it.

An app adds a section with facts in its `admin` package (`sections`), which also shows them.
"""
