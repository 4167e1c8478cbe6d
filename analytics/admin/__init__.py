"""Analytics in the admin: single page views, links to the reports, and feedback."""

from analytics.admin import feedback, page_views

__all__ = ["feedback", "page_views"]
