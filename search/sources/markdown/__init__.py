"""Read folders of Markdown and MDX the way site generators do."""
