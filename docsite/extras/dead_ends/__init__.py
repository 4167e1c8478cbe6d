"""Dead ends: addresses that readers and agents ask for and that no page has, each with the page that it probably means.

Addresses come from our own 404 page, from the MCP server, from access logs, and from pages that have left the index.
`recording` counts them, `watching` follows the index, `matching` finds the nearest page and its confidence, and
`redirects` follows those from `CONFIDENCE` on.
"""
