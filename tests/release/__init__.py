"""The release rehearsal, `make release-check`: every package is built, installed where nothing else is, and tried.

`build` makes the files that a release has. `python_package`, `mkdocs_site`, `docusaurus_site`, `react_app` and
`containers` try them; `browser` looks at pages in Chromium. It needs PyPI and the npm registry.
"""
