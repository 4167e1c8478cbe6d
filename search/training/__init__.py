"""Train the weights of `search.retrieval.ranking` and `search.retrieval.answerability` with judged queries.

The command `train` runs the steps: `data`, `examples`, `regression`, `passages`, `answers`, `weights_file`.
"""
