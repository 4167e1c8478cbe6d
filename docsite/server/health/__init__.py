"""Whether this process works: `/health/live` and `/health/ready`.

`probes` answers both, before any middleware. `readiness` finds
the reasons why this process should get no requests. `descriptors` is the limit of open files.
"""
