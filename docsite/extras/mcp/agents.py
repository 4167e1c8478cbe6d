"""Which agent calls, and what it reads: for the report of agents.

`initialize` names the client, but later requests of the older versions do not. So the response to `initialize` has a
session id that carries the name, signed. Nothing is stored: every process can read it, and it gives access to nothing.
"""

import re
import uuid
from collections.abc import Mapping
from typing import Any

from django.core import signing
from django.http import HttpRequest
from django.utils import timezone

from analytics.agents import MCP_MARK
from analytics.collecting import recording
from analytics.collecting.recording import Observation
from docsite.core.http.client_address import Address
from docsite.core.tenants.models import Project
from docsite.extras.mcp.protocol import CLIENT_KEY

SESSION_HEADER = "Mcp-Session-Id"
MAX_NAME, MAX_USER_AGENT, MAX_SESSION = 40, 400, 600  # characters

_SALT = "docsite.mcp.client"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.]+")


def name_client(info: Any) -> str:
    """`NAME/VERSION` of a client from its `clientInfo`; empty if that has no name."""
    if not isinstance(info, dict):
        return ""
    name, version = _clean(info.get("name")), _clean(info.get("version"))
    return f"{name}/{version}" if name and version else name


def issue_session(client: str) -> str:
    """A session id that says who the client is."""
    return signing.dumps({"client": client}, salt=_SALT)


def find_user_agent(request: HttpRequest, meta: Mapping[str, Any]) -> str:
    """The user agent under which analytics knows the client: the name that it gave, else that of its HTTP library."""
    client = name_client(meta.get(CLIENT_KEY)) or _read_session(request.headers.get(SESSION_HEADER, ""))
    return f"{client or request.headers.get('User-Agent', '')[:MAX_USER_AGENT]} {MCP_MARK}".strip()


def record_read(project: Project, reader: Address, user_agent: str, path: str) -> None:
    """Record that an agent has read a page. It does not wait until the view is stored."""
    observation = Observation(
        view_id=uuid.uuid4().hex,
        raw_path=path,
        at=timezone.now(),
        address=reader,
        user_agent=user_agent,
        accept="text/markdown",
        is_own=True,
    )
    recording.send(project, [observation])


def _read_session(session: str) -> str:
    try:
        return str(signing.loads(session[:MAX_SESSION], salt=_SALT)["client"])
    except (signing.BadSignature, ValueError, KeyError, TypeError):  # another client's, or of another service
        return ""


def _clean(value: Any) -> str:
    return _NOT_IN_NAMES.sub("-", value[: 2 * MAX_NAME])[:MAX_NAME].strip("-") if isinstance(value, str) else ""
