"""The visitors report in the admin."""
