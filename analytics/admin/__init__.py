"""Analytics in the admin: single page views, links to the reports, feedback, ratings of answers, removal of samples.

`page_report` is the page about one page of the documentation.
"""

from analytics.admin import feedback, health, page_report, page_views, ratings, sample

__all__ = ["feedback", "health", "page_report", "page_views", "ratings", "sample"]
