"""The pages of a project in the admin, in a browser."""
