"""Asks the configured model server as the service does, and says what to change: the command `checkmodel`."""
