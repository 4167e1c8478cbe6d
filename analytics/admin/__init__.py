"""Analytics in the admin: start page, single page views, links to reports, feedback, samples.

`page_report` is the page about one page of the documentation.
"""

from analytics.admin import feedback, health, page_report, page_views, sample, start

__all__ = ["feedback", "health", "page_report", "page_views", "sample", "start"]
