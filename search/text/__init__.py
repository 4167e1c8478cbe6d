"""Text without a database: index terms, Markdown and its sections, the vocabulary of an index.

Others import `markdown` (the one Markdown reader), `sections` (a page cut at its headings),
`analysis` (words to terms), `scanning` (where a text may hold a term), `english` (how common its words are),
`language` (of a text), `glossary` (questions in other languages), `owner_words` (synonyms, British and American
spellings, abbreviations, and pages that come first for a query), `terms` (what an engine stores, and its queries),
`vocabulary` (the words of an index), `compounds` (of these words), `references` (pronouns, and words that carry
meaning) and `shared_texts` (one copy of each text of a section).
"""
