"""Questions answered from the documentation, streamed to readers, kept as conversations."""
