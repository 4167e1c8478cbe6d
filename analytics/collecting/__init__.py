"""Page views in: a request as a view, its class and visitor, and the writer that stores it."""
