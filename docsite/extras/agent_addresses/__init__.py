"""The command `agentaddresses` stores the IP addresses from which an operator says that its agents come."""
