"""Tests. `make quick` runs what needs only Python, `make test` everything."""
