"""The documentation of each project for coding agents: an MCP server at `/mcp/{domain}`.

It speaks the Model Context Protocol over streamable HTTP, without sessions on the server, so any process may answer.
"""
