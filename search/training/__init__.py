"""How the weights of `search.retrieval.ranking` are made from judged queries."""
