"""A Sphinx project as a source: its folder with conf.py, and pages in reStructuredText and MyST Markdown."""
