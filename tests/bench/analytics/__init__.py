"""Counting unique visitors: ours beside its peers (`make bench-analytics`)."""
