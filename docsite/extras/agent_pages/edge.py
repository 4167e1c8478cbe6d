"""The file for the server or the worker before a project's site: nginx, Caddy, or a worker as Cloudflare runs it."""

import re
from pathlib import Path
from urllib.parse import quote

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit

NAMES = ("nginx.conf", "agents.caddy", "worker.js")
_TEXTS = {name: (Path(__file__).parent / "edge_files" / name).read_text(encoding="utf-8") for name in NAMES}


def write_file(project: Project, base_url: str, name: str) -> str | None:
    """The text of a file by its name; None for another name. `base_url` is the address of this service."""
    if name not in NAMES:
        return None
    service = urlsplit(base_url)
    folder = quote(urlsplit(project.docs_url).path.rstrip("/"), safe="/-._~")
    values = {
        "SITE": quote(project.docs_url, safe=":/-._~"),
        "SERVICE": base_url,
        "ORIGIN": f"{service.scheme}://{service.netloc}",
        "BASE": service.path,
        "DOMAIN": project.domain,
        "PROJECT": project.project_id,
        "FOLDER": folder,
        "PATTERN": re.escape(folder).replace("\\-", "-").replace("%", "\\%"),
    }
    text = re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], _TEXTS[name])
    return text if service.scheme == "https" else re.sub(r"^ *proxy_ssl_.*\n", "", text, flags=re.MULTILINE)
