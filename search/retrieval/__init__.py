"""A query in, hits out: a plan, candidates, scores, the best sections, excerpts.

Others import `page_search` (search for readers), `passages` (search for the assistant), `page_reading` (one page
for a model), `answerability` (whether the passages answer), `links` (addresses of pages), `explanation` (why a
hit has its score), `excerpts` (a part of a text) and `index_state` (the groups of a reader that its pages name).
`parsing` decides how much each word counts: corrected, completed, a synonym, of earlier questions or of a selection.
Training also imports `parsing`, `plan`, `selection` and `ranking`.
"""
