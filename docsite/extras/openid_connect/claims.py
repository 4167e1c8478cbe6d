"""What the claims of a provider say of a person: a name, the groups, and why there are none.

Providers write groups in many ways: a list or a text at any depth (Keycloak: `realm_access.roles`), a list of objects,
an object whose names are the groups (Zitadel). A claim may be left out, or lead to another place.
"""

from collections.abc import Mapping
from typing import Any

MISSING = object()
_NAMES_OF_GROUPS = ("name", "displayName", "display", "value", "id")  # of a group that is an object
_MAX_NAMES = 30  # claims that a line of the log names


def find_claim(claims: Any, path: str) -> Any:
    """The claim with this name, or at this dotted path. `MISSING` without one.

    A name may itself have dots, as those of Auth0 (`https://example.com/groups`) do.
    """
    if not isinstance(claims, Mapping):
        return MISSING
    if path in claims:
        return claims[path]
    at = path.find(".")
    while at > 0:
        if path[:at] in claims and (found := find_claim(claims[path[:at]], path[at + 1 :])) is not MISSING:
            return found
        at = path.find(".", at + 1)
    return MISSING


def read_groups(claim: Any) -> list[str]:
    """The groups of a claim. Without the claim: none, since many providers leave out an empty list."""
    found = claim if isinstance(claim, list | Mapping) else [claim]
    return sorted({name for group in found if isinstance(name := _name_group(group), str) and name})


def find_overage(claims: Mapping[str, Any], path: str) -> str:
    """The claim that says that the person has groups which are not listed. Empty if they are listed, or there are none.

    `_claim_names` leads to another place for a claim (OpenID Connect Core §5.6.2). Microsoft Entra ID sends it, or
    `hasgroups`, instead of more than 200 groups.
    """
    elsewhere = claims.get("_claim_names")
    if find_claim(claims, path) is not MISSING:
        return ""
    if isinstance(elsewhere, dict) and path in elsewhere:
        return f"_claim_names.{path}"
    return "hasgroups" if path == "groups" and claims.get("hasgroups") in (True, "true") else ""


def find_name(claims: Mapping[str, Any]) -> str:
    """A name to display, of at most 100 characters."""
    found = (claims.get(key) for key in ("preferred_username", "email", "name", "sub"))
    return next(str(name).strip()[:100] for name in found if name and str(name).strip())


def describe_missing(claims: Mapping[str, Any], path: str) -> str:
    """That the claim is missing, for the log, with the names of those that have come; no value of them."""
    names = sorted(_list_paths(claims))
    shown = ", ".join(names[:_MAX_NAMES]) + (" and more" if len(names) > _MAX_NAMES else "")
    return f"the claim {path} (OIDC_GROUP_CLAIM) is not among those that came: {shown}"


def _name_group(group: Any) -> Any:
    if isinstance(group, Mapping):
        return next((group[name] for name in _NAMES_OF_GROUPS if name in group), None)
    return group


def _list_paths(claims: Mapping[str, Any]) -> list[str]:
    """The names of claims, and of those one level deeper."""
    return [
        path
        for name, value in claims.items()
        for path in ([f"{name}.{inner}" for inner in value] if isinstance(value, Mapping) and value else [name])
    ]
