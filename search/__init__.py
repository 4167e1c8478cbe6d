"""Documentation in, sections out: ingest, index and find."""
