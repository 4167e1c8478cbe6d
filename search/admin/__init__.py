"""Search in the admin: ingested pages, recorded searches, synonyms, promoted pages and stored sources.

Others import `sources`, and `searches_state` (the addresses of the reports of searches).
"""

from search.admin import health, owner_words, pages, protected_pages, sources
