"""A plug-in for MkDocs. It adds the script tag and the metadata of the page to the head of each page that is built.

`plugin` is what MkDocs loads, by the entry point of the package; `head` makes the lines. It is no app of the service:
it runs where a site is built, and needs MkDocs alone, so it imports neither Django nor anything else of ours.
"""
