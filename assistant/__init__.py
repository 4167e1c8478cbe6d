"""Answers questions from the documentation, streams the answers to readers, and stores conversations."""
