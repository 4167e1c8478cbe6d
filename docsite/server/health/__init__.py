"""Whether this process works: `/health`, `/health/live` and `/health/ready`.

`database` is the view of `/health`. `probes` answers the two others, before any middleware. `readiness` finds
the reasons why this process should get no requests. `descriptors` is the limit of open files.
"""
