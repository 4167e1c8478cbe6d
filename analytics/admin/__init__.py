"""Analytics in the admin: single page views, the way to the reports over them, and feedback."""

from analytics.admin import feedback, page_views

__all__ = ["feedback", "page_views"]
