"""How well dead ends find pages that moved, on the history of public repositories.

`python -m tests.bench.redirects FOLDER…`: folders are git directories.
"""
