"""The pages of each project as Markdown for agents, at `/agents/{domain}`, and files that put them on its own site.

`contents` lists the pages (llms.txt), `pages` writes one of them, and `edge` the file for the server or the worker
before the site.
"""
