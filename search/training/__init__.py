"""How the weights of `search.ranking` are made from judged queries. Needs numpy; searching does not."""
