"""Checks a model's text while it streams: citations become checked links; other links, images and HTML are removed.

Three classes, each built on the one before:

- `stream_rewriter.StreamRewriter` reads the stream piece by piece and holds back what it cannot decide yet;
- `sanitizer.Sanitizer` escapes what could begin a link, an image or HTML;
- `link_checker.CitationChecker` turns markers such as `[2]` into checked links.

They use `block_scanner` (code, lists and tables of Markdown), `brackets` (markers
and links of Markdown), `source_lists` (a model's own list of sources), `addresses`
(which addresses an answer may link to), `evidence` (which sentence supports a claim)
and `text_fragments` (links that scroll to a sentence).

Others import `link_checker`, `passages` (the passages of an answer, packed while nobody
looks at them), and `refusal_phrases` for whether a sentence says that the documentation
has no answer.
"""
