"""`/metrics` for Prometheus, if `METRICS_TOKEN` is set. Others import `requests` (counts them) and `endpoint`.

`facts` reads what this process, its background work and the stores are doing. `exposition` writes the text format.
No metric has a label for a project, a reader or a page: those would be without bound, and tell about people.
"""
