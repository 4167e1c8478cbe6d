"""Takes the pictures of the documentation from a demo of its own: `make pictures`."""
