"""The documentation site of the service itself: Markdown in `content/`, rendered on the server.

Others import `navigation`, the pages in their order, `page_cache`, which sends them again without rendering, `urls`,
`forms` (that a page of the site has posted) and `additions` (for optional parts). Those parts also take `markdown` (its
renderer), `page_context` (the project of the site) and what `for_programs` writes as Markdown.
"""
