"""Folders of Markdown and MDX, as the generators of sites know them."""
