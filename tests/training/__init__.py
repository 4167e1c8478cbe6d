"""Train the weights of `search.retrieval.ranking` and `search.retrieval.answerability` with judged queries.

A release ships them, so an installation needs none of this. `python -m tests.training` runs the steps: `data`,
`examples`, `regression`, `passages`, `answers`, `weights_file`.
"""
