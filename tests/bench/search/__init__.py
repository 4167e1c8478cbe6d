"""Search beside its peers, on documentation sets with judged queries (`make bench-search DATA=folder`)."""
