"""Which API paths browsers on other origins may call (CORS).

Apps register the names of their resources when they start. A resource stands
below `/discovery/` and a protocol, and the project's domain follows it:
`/discovery/PROTOCOL/NAME/DOMAIN/...`. `v1` is a protocol. A resource may also stand at
the root, `/NAME/DOMAIN`, with request headers of its own.
"""

import re

_PATH = re.compile(r"/discovery/(?P<protocol>[\w-]+)/(?P<name>[^/]+)/(?P<domain>[^/]*)")
_ROOT_PATH = re.compile(r"/(?P<name>[\w-]+)/(?P<domain>[^/]+)")
_project_resources: set[str] = set()
_root_resources: dict[str, tuple[str, ...]] = {}  # with their request headers
_public_resources: set[str] = set()


def allow_project_origins(*names: str) -> None:
    """Let pages on the allowed origins of a project call these resources of the project."""
    _project_resources.update(names)


def allow_project_origins_at_root(name: str, *headers: str) -> None:
    """Let pages on the allowed origins of a project call `/NAME/DOMAIN`, also with these request headers."""
    _root_resources[name] = headers


def allow_every_origin(*names: str) -> None:
    """Let pages on every origin call version 1 of these resources."""
    _public_resources.update(names)


def is_public(path: str) -> bool:
    """Whether pages on every origin may call a path."""
    match = _PATH.match(path)
    return match is not None and match["protocol"] == "v1" and match["name"] in _public_resources


def domain_of(path: str) -> str | None:
    """The domain in a path that the allowed origins of its project may call; None if no other origin may."""
    if match := _match_root(path):
        return match["domain"]
    match = _PATH.match(path)
    return match["domain"] or None if match and match["name"] in _project_resources else None


def request_headers_of(path: str) -> tuple[str, ...]:
    """The request headers that only the resource at this path takes."""
    match = _match_root(path)
    return _root_resources[match["name"]] if match else ()


def _match_root(path: str) -> re.Match[str] | None:
    match = _ROOT_PATH.fullmatch(path)
    return match if match and match["name"] in _root_resources else None
