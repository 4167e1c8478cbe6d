"""Train the weights of `search.retrieval.ranking` and `search.retrieval.answerability` with judged queries."""
