"""Search in the admin: ingested pages, recorded searches and stored sources.

Others import `sources`.
"""

from search.admin import pages, sources

__all__ = ["pages", "sources"]
