"""One answer from the question to its last event.

    pipeline           any question: a pinned answer, a greeting, or an answer from the pages; stored whatever happens
    -> grounded        search, ask the models, else quote or refuse
    -> model_answer    the requests of one model with its own searches, what they cost, and why its answer was cut
    -> upstream.relay  the stream of one request

Others import `pipeline` (without Django), `question` (what a reader asks), `record` (the outcome of an answer, who or
what cut it, and how it is stored), `retriever` (the search that an answer needs) and `passage_search`, which is that
search, `owner_settings`, `prompts` (the messages to a model), `small_talk` (greetings, and what is no question),
`tools` (what a model may call) and `quoting` (answers without a model). `grounded` uses `follow_ups` (“Continue”,
and the earlier questions that a short one refers to), `refusals` (the text of a refusal, and whether a model refuses),
`suggestions` (sections to read next) and `translations` (sentences of the service in each language).
"""
