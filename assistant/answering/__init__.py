"""One answer from the question to its last event, without Django.

Others import `pipeline` (the whole course of an answer), `grounded` (an answer from the
pages, and the chain of models that it asks), `record` (an answer as it is stored),
`retriever` (the search that an answer needs), `prompts` (the messages to a model),
`small_talk` (greetings, and what is no question) and `tools` (what a model may call). A
grounded answer uses `rounds` (a model's requests and
searches), `follow_ups` (“Continue”), `extractive` (answers without a model), `refusals`
(the text of a refusal), `refusal_detector` (whether a model refuses), `suggestions`
(sections to read next) and `translations` (sentences of the service in each language).
"""
