"""Analytics in the admin: single page views, links to the reports, feedback, and the removal of samples."""

from analytics.admin import feedback, page_views, sample

__all__ = ["feedback", "page_views", "sample"]
