"""How agents find the server of a project: its address, links that add it to an editor, a card and a skill file."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.mcp.models import McpSettings, get_access
from docsite.extras.mcp.protocol import VERSIONS

CARD_TYPE = "application/mcp-server-card+json"
CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
SKILLS_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
SERVER_VERSION = "1.0.0"
MAX_CARD_DESCRIPTION, MAX_SKILL_NAME = 100, 64  # characters
_SKILL = (Path(__file__).parent / "skill.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class McpServer:
    """The server of a project. `base_url` is the origin of this service."""

    project: Project
    base_url: str

    @property
    def name(self) -> str:
        """Its name in the settings of an agent."""
        return f"{self.project.domain}-docs"

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.base_url}/mcp/{self.project.domain}"

    @property
    def needs_key(self) -> bool:
        """Whether the owner demands an API key."""
        return get_access(self.project) == McpSettings.Access.KEY

    @property
    def cursor_link(self) -> str:
        """A link that adds it to Cursor."""
        config = base64.b64encode(json.dumps({"url": self.url}).encode()).decode()
        return f"cursor://anysphere.cursor-deeplink/mcp/install?{urlencode({'name': self.name, 'config': config})}"

    @property
    def vscode_link(self) -> str:
        """A link that adds it to VS Code."""
        return f"vscode:mcp/install?{quote(json.dumps({'name': self.name, 'type': 'http', 'url': self.url}), safe='')}"

    @property
    def claude_command(self) -> str:
        """The command that adds it to Claude Code."""
        header = ' --header "Authorization: Bearer svc_dsc_…"' if self.needs_key else ""
        return f"claude mcp add --transport http {self.name} {self.url}{header}"

    def build_card(self) -> dict[str, Any]:
        """Its server card: what a client must know to connect (SEP-2127)."""
        host = urlsplit(self.base_url).hostname or "localhost"
        remote: dict[str, Any] = {
            "type": "streamable-http",
            "url": self.url,
            "supportedProtocolVersions": list(VERSIONS),
        }
        if self.needs_key:
            remote["headers"] = [
                {
                    "name": "Authorization",
                    "description": "Bearer, then an API key",
                    "isRequired": True,
                    "isSecret": True,
                }
            ]
        return {
            "$schema": CARD_SCHEMA,
            "name": f"{'.'.join(reversed(host.strip('[]').replace(':', '-').split('.')))}/{self.project.domain}",
            "version": SERVER_VERSION,
            "title": self.project.name,
            "description": f"Search, read and ask the documentation “{self.project.name}”."[:MAX_CARD_DESCRIPTION],
            "websiteUrl": self.project.docs_url,
            "remotes": [remote],
        }

    def build_catalog(self) -> dict[str, Any]:
        """A catalog of the host with the card of the server as its only entry."""
        host = urlsplit(self.base_url).hostname or "localhost"
        entry = {
            "identifier": f"urn:air:{host}:mcp:{self.project.domain}",
            "displayName": self.project.name,
            "type": CARD_TYPE,
            "url": f"{self.url}/server-card",
        }
        return {"specVersion": "1.0", "entries": [entry]}

    @property
    def skill_name(self) -> str:
        """The name of its skill."""
        return self.name[:MAX_SKILL_NAME].rstrip("-")

    @property
    def skill_description(self) -> str:
        """When an agent should use its skill."""
        return (
            f"Search, read and ask the documentation “{self.project.name}” at {self.project.docs_url}. Use it when a "
            "task involves what it describes: its settings, commands, APIs and error messages."
        )

    def write_skill(self) -> str:
        """The skill file: how an agent uses the server, with or without an MCP client (agentskills.io)."""
        key = (
            "\nThe server demands an API key: send the header `Authorization: Bearer KEY` with each request.\n"
            if self.needs_key
            else ""
        )
        header = " -H 'Authorization: Bearer KEY'" if self.needs_key else ""
        return _SKILL.format(
            skill=self.skill_name,
            description=json.dumps(self.skill_description, ensure_ascii=False),
            product=self.project.name,
            docs_url=self.project.docs_url,
            url=self.url,
            server=self.name,
            key=key,
            header=header,
        )


def find_server(project: Project | None, base_url: str) -> McpServer | None:
    """The server of a project; None if there is no project, or its owner has turned the server off."""
    if project is None or get_access(project) == McpSettings.Access.OFF:
        return None
    return McpServer(project, base_url)
