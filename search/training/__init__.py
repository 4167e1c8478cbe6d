"""How the weights of `search.ranking` are made from judged queries."""
