"""Counts of visitors and views of a project, and exports of them in pages that agree with each other."""
