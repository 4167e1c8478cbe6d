"""Sources that a project keeps and that are read again on schedule, each in a process of its own."""
