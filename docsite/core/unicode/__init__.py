"""Text of any script, however it is made up: nothing else in the service normalizes Unicode."""
