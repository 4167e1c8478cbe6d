"""Import the page views of access logs."""
