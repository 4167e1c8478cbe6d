"""One answer from the question to its last event, without Django.

Others import `pipeline` (the whole course of an answer), `prompts` (the messages
to a model), `extractive` (answers without a model) and `phrases` (sentences of
the service).
"""
