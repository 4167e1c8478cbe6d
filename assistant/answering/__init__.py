"""One answer from the question to its last event, without Django.

Others import `pipeline` (the whole course of an answer) and `prompts` (the
messages to a model). The pipeline uses `follow_ups` (“Continue”), `extractive`
(answers without a model), `refusals` (the text of a refusal), `refusal_detector`
(whether a model refuses), `suggestions` (sections to read next) and `phrases`
(sentences of the service in each language).
"""
