"""Access logs as views."""
