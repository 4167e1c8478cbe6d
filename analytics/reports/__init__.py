"""Questions about the views of a project, answered as counts, and as exports that no page repeats or misses."""
