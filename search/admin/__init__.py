"""Search in the admin: ingested pages, recorded searches and stored sources."""

from search.admin import health, pages, sources

__all__ = ["health", "pages", "sources"]
