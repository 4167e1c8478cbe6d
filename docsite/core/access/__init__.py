"""Who may call an endpoint: keys, origins, limits, and the checks that run before each endpoint."""
