"""The configuration of the app."""

from django.apps import AppConfig


class AgentAddressesConfig(AppConfig):
    """The command `agentaddresses`."""

    name = "docsite.extras.agent_addresses"
    label = "agent_addresses"
