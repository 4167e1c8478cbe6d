"""Benchmarks: each is a command of its own (`make bench` runs all)."""
