"""One answer from the question to its last event.

Others import `pipeline` (the whole course of an answer, without Django), `question` (what a reader asks), `record`
(an answer as it is stored), `retriever` (the search that an answer needs) and `passage_search`, which is that search,
`owner_settings`, `prompts` (the messages to a model), `small_talk` (greetings, and what is no question), `tools` (what
a model may call) and `quoting` (answers without a model). `grounded` is an answer from the pages. It uses `rounds` (a
model's requests and searches), `follow_ups` (“Continue”), `refusals` (the text of a refusal, and whether a model
refuses), `suggestions` (sections to read next) and `translations` (sentences of the service in each language).
"""
