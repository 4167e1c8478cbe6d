"""Read a Sphinx project from its sources: conf.py, and pages in reStructuredText or MyST Markdown."""
