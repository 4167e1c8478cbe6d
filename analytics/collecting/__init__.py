"""Collect page views: turn a request into a view with its class and visitor, and store it.

Others import `recording` (accept observations), `requests` (a request as an observation), `writer`
(wait until views are stored), `signatures` (signed requests), `middleware` (views of our own pages), `verification`
(addresses of agents) and `view_log` (a log in front of the database, if there is one).
"""
