"""A plug-in for MkDocs: the tag with search and assistant, and what a page says of itself, in the head of each page.

`plugin` is what MkDocs loads, by the entry point of the package; `head` makes the lines. It is no app of the service:
it runs where a site is built, and needs MkDocs alone, so it imports neither Django nor anything else of ours.
"""
