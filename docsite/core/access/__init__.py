"""Who asks, and what they may do: keys, origins, limits, and the checks that each endpoint begins with."""
