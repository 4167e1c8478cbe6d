"""The pages of a project as MCP resources: `docs://DOMAIN/PATH`."""

from typing import Any
from urllib.parse import quote, unquote

from django.core import signing

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.mcp.json_rpc import INVALID_PARAMS, RpcError
from search.models import Document

SCHEME = "docs"
MARKDOWN = "text/markdown"
PAGE_SIZE = 100
MAX_URI = 2000
_SALT = "docsite.mcp.resources"


def build_uri(project: Project, path: str) -> str:
    """The URI of a page."""
    return f"{SCHEME}://{project.domain}{quote(path)}"


def parse_uri(project: Project, uri: Any) -> str | None:
    """The path of the page with a URI, which may be its public address. None if it is not in the project."""
    if not isinstance(uri, str) or len(uri) > MAX_URI:
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if (parts.scheme, parts.netloc) == (SCHEME, project.domain):
        return unquote(parts.path) or "/"
    return uri if uri.startswith(project.docs_url) else None


def list_resources(project: Project, cursor: Any) -> dict[str, Any]:
    """The next pages of a project, by path. Raises `RpcError` for a cursor that this service did not issue."""
    pages = Document.objects.filter(project=project).order_by("path")
    if cursor is not None:
        pages = pages.filter(path__gt=_parse_cursor(project, cursor))
    rows = list(pages.values_list("path", "title", "description")[: PAGE_SIZE + 1])
    result: dict[str, Any] = {
        "resources": [
            {"uri": build_uri(project, path), "name": path, "title": title, "mimeType": MARKDOWN}
            | ({"description": description} if description else {})
            for path, title, description in rows[:PAGE_SIZE]
        ]
    }
    if len(rows) > PAGE_SIZE:
        result["nextCursor"] = signing.dumps([project.domain, rows[PAGE_SIZE - 1][0]], salt=_SALT)
    return result


def list_templates(project: Project) -> dict[str, Any]:
    """How the URIs of pages are built."""
    template = {
        "uriTemplate": f"{SCHEME}://{project.domain}/{{+path}}",
        "name": "page",
        "title": f"A page of {project.name}",
        "description": "The Markdown of the page at a path, such as the ones that search_docs returns.",
        "mimeType": MARKDOWN,
    }
    return {"resourceTemplates": [template]}


def _parse_cursor(project: Project, cursor: Any) -> str:
    try:
        domain, path = signing.loads(cursor, salt=_SALT) if isinstance(cursor, str) else ("", "")
    except (signing.BadSignature, ValueError, TypeError):
        domain = path = ""
    if domain != project.domain:
        raise RpcError(INVALID_PARAMS, "cursor: was not issued by this server.")
    return str(path)
