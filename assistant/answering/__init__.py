"""One answer from the question to its last event. Free of Django.

Others import `pipeline` (the whole story), `prompts` (what a model is given),
`extractive` (answers without a model) and `phrases` (sentences of the service).
"""
