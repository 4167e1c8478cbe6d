"""The path below which a proxy shows this service, such as `/docs-service`: `ALLOWED_HOSTS` names it after the host.

The proxy may remove the path from the address or leave it: below it, both arrive here as the same path. No header says
it, since a proxy passes on the headers of readers that it does not know.
"""

from collections.abc import MutableMapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_script_prefix


def mount(scope: MutableMapping[str, Any]) -> None:
    """Set the base path of a request as its `root_path`, and leave it out of the path. Nobody else may set it."""
    scope["root_path"] = base = _find_base(scope) if settings.BASE_PATHS else ""
    if base and f"{scope['path']}/".startswith(f"{base}/"):
        scope["path"] = scope["path"][len(base) :] or "/"


def base_path() -> str:
    """The base path of the request that is being served, without a slash at its end; empty for none."""
    return get_script_prefix().rstrip("/")


def without_base(path: str) -> str:
    """A path of this service as it is without a proxy."""
    base = base_path()
    return path[len(base) :] or "/" if f"{path}/".startswith(f"{base}/") else path


def service_url(request: HttpRequest) -> str:
    """The address of this service as the client sees it, without a slash at its end."""
    return f"{request.scheme}://{request.get_host()}".lower() + base_path()


def absolute_url(request: HttpRequest, path: str) -> str:
    """The whole address of a path of this service."""
    return request.build_absolute_uri(base_path() + path)


def _find_base(scope: MutableMapping[str, Any]) -> str:
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "").lower()
    name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0].rstrip(".")
    base: str = settings.BASE_PATHS.get(name, "")
    return base
