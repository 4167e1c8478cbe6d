"""Stores the addresses that operators publish for their agents: the command `agentaddresses`."""
