"""Answers without a model: `quotes` chooses sentences of a passage, `extractive` writes an answer of them."""
