"""A model's text on its way to the reader: checked citations, and nothing that could be a link, an image or HTML.

Others import `checker`, which puts the rest together, and `refusal_phrases`
for whether a sentence says that the documentation has no answer.
"""
