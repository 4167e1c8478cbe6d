"""Middleware of pages: compression, static files, security headers, NUL characters."""
