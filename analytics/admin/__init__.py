"""Analytics in the admin: single page views, links to the reports, feedback, and ratings of answers."""

from analytics.admin import feedback, health, page_views, ratings

__all__ = ["feedback", "health", "page_views", "ratings"]
