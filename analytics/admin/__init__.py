"""Analytics in the admin: start page, single page views, links to reports, feedback, ratings of answers, samples.

`page_report` is the page about one page of the documentation.
"""

from analytics.admin import feedback, health, page_report, page_views, ratings, sample, start

__all__ = ["feedback", "health", "page_report", "page_views", "ratings", "sample", "start"]
