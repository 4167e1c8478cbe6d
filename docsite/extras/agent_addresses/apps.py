"""The configuration of the app."""

from django.apps import AppConfig


class AgentAddressesConfig(AppConfig):
    """Addresses of agents from their operators' files, by the command `agentaddresses`."""

    name = "docsite.extras.agent_addresses"
    label = "agent_addresses"
