"""What the site offers to programs: agents, crawlers, browsers' search fields, feed readers, and scripts in CI.

`push.py` is not imported: it is served as a file, and runs elsewhere.
"""
