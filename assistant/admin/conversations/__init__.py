"""The conversations of a project: finding, reading, redacting and exporting them."""
