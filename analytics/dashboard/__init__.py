"""Pages of the admin that show numbers. Others import `visitors` (the visitors report) and `overview` (the home)."""
