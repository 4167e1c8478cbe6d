"""What readers think of pages and answers: in from browsers, out to the owner."""
