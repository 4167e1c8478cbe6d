"""Answers without a model, on documentation sets with judged queries (`make bench-answers DATA=folder`)."""
