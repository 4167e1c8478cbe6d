"""Pages into the index. Others import `ingest`."""
