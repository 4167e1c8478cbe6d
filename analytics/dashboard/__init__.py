"""The visitors report in the admin, and what reports after it will share."""
