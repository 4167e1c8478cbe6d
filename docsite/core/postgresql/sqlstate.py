"""PostgreSQL's codes of errors. Reading them needs no psycopg, which a service with SQLite never imports.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

READ_ONLY_TRANSACTION = "25006"
SERIALIZATION_FAILURE = "40001"  # also of a replica that had to apply a change
TOO_MANY_CONNECTIONS = "53300"
LOCK_NOT_AVAILABLE = "55P03"
QUERY_CANCELED = "57014"


def find_sqlstate(failure: Exception) -> str | None:
    """The code of an error of Django's; None if it does not come from PostgreSQL itself."""
    return getattr(failure.__cause__, "sqlstate", None)
