"""Search in the admin: ingested pages, what readers searched for, and stored sources."""

from search.admin import pages, sources

__all__ = ["pages", "sources"]
