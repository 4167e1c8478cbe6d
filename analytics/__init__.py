"""Page views and feedback: collected, counted and reported."""
