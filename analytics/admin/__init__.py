"""Analytics in the admin: single page views, links to the reports, feedback, ratings of answers, removal of samples."""

from analytics.admin import feedback, health, page_views, ratings, sample

__all__ = ["feedback", "health", "page_views", "ratings", "sample"]
