"""The pages of each project as Markdown for agents, at `/agents/{domain}`, and files that put them on its own site.

`contents` lists the pages (llms.txt), `pages` writes one of them, and `edge` fills in one of `edge_files`: the whole
configuration of the server or the worker before the site, with its limits of time.
"""
