"""Analytics in the admin: single page views, links to the reports, feedback, and ratings of answers."""

from analytics.admin import feedback, page_views, ratings

__all__ = ["feedback", "page_views", "ratings"]
