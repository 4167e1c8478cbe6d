"""The tag of a project, as `createproject` prints it."""

from django.conf import settings

from docsite.core.tenants.models import Project

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def describe(project: Project, assistant_key: str) -> list[str]:
    """The tag, and where it belongs."""
    names = f'data-domain="{project.domain}" data-key="{assistant_key}"'
    url = guess_service_url()
    return [
        "Then put this tag into the head of each page:",
        f'<script async src="{url}/widget.js" {names}></script>',
        f"If the service has another address than {url}, write that one.",
        "To add a search dialog, load search.js in place of widget.js, and add the attribute data-assistant.",
    ]


def guess_service_url() -> str:
    """The address of this service, as far as its settings tell: of the first host that is not loopback."""
    hosts = [host for host in settings.ENV.allowed_hosts if host not in LOOPBACK and host[0] not in ".*"]
    scheme = "https" if settings.ENV.https_only else "http"
    return f"{scheme}://{hosts[0]}" if hosts else f"http://127.0.0.1:{settings.ENV.port}"
