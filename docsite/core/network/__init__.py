"""Connections to hosts that a stranger may have named: public hosts only, and those that the operator allows.

Others import `connections` (an httpcore backend that checks every address, and a deadline for a request) and
`private_hosts` (the hosts of `CRAWL_PRIVATE_HOSTS` and the like).
"""
