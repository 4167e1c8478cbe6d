"""`/metrics` for Prometheus, if `METRICS_TOKEN` is set. Others import `requests` (counts them) and `endpoint`.

`endpoint` collects the metrics of all components (`docsite.core.components`).
No metric has a label for a project, a reader or a page: those would be without bound, and tell about people.
"""
