"""Checks whether a running service speaks this HTTP contract. `manage.py conform` runs them against any address.

Others import `runner` (run all checks) and `service` (what is checked). The package knows neither Django nor our code,
so that it finds only what a client would find. A check raises `Violation`; its docstring is its line in the report.
"""
