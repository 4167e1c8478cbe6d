"""What readers searched for: one row a search, the result they opened, and the report over both."""
