"""The one reader of Markdown, on markdown-it's tokens. Its modules, and what others import from them:

- `reader`: `parse`, `blocks`, `headings`, `title_of`, `fences`, `is_code`, and `fence` to write one
- `attributes`: `split_attributes` of a heading's attribute list
- `cleaning`: `clean`, which makes a site's Markdown plain
- `plain_text`: `plain` and `inline_text` for the words, `slug` and `anchor_and_heading` for anchors
- `tables`: `format_table` and `Cell`; `cleaning` uses it for HTML tables
- `writer`: `escape_text`, `escape_line_start` and `code_span` to write Markdown
- `links`: `links` and `CodeSpans`
- `dialects`: the block rules for what generators of sites add; `reader` uses them
- `block_parser`: markdown-it's block parser, which tries a rule only on lines that it can match; `reader` uses it

Only the rewriter of streamed answers (`assistant.citations`) reads Markdown by itself, because it gets halves of lines.
"""
