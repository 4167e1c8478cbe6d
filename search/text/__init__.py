"""Text: index terms, Markdown and its sections, the vocabulary of an index. No database."""
