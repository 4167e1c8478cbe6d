"""Which API paths browsers on other origins may call (CORS).

Apps register the names of their resources when they start. A resource stands
below `/discovery/` and a protocol, and the project's domain follows it:
`/discovery/PROTOCOL/NAME/DOMAIN/...`. `v1` is a protocol.
"""

import re

_PATH = re.compile(r"/discovery/(?P<protocol>[\w-]+)/(?P<name>[^/]+)/(?P<domain>[^/]*)")
_project_resources: set[str] = set()
_public_resources: set[str] = set()


def allow_project_origins(*names: str) -> None:
    """Let pages on the allowed origins of a project call these resources of the project."""
    _project_resources.update(names)


def allow_every_origin(*names: str) -> None:
    """Let pages on every origin call version 1 of these resources."""
    _public_resources.update(names)


def is_public(path: str) -> bool:
    """Whether pages on every origin may call a path."""
    match = _PATH.match(path)
    return match is not None and match["protocol"] == "v1" and match["name"] in _public_resources


def domain_of(path: str) -> str | None:
    """The domain in a path that the allowed origins of its project may call; None if no other origin may."""
    match = _PATH.match(path)
    return match["domain"] or None if match and match["name"] in _project_resources else None
