"""Surfaces: do the page, its Markdown, llms.txt, search, MCP and the answer tell the fact of a golden question?

`finding` says what is found on a surface, `site` looks at what the site serves, `service` at what this service answers,
`audit` asks all of them, and `columns` shows the results.
"""
