"""PostgreSQL's codes of errors. Reading them needs no psycopg, which a service with SQLite never imports.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

LOCK_NOT_AVAILABLE = "55P03"


def find_sqlstate(failure: Exception) -> str | None:
    """The code of an error of Django's; None if it does not come from PostgreSQL itself."""
    return getattr(failure.__cause__, "sqlstate", None)
