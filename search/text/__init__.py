"""What a text is made of: index terms, Markdown cut into sections, the words that an index holds. No database."""
