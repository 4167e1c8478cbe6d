"""Which tables belong to an organization, and how each leads to it."""

from collections.abc import Iterator
from functools import cache

from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Field, Model, QuerySet

from docsite.core.tenants.models import Organization
from docsite.server.move.run import list_models

# What a move does not carry, by label, with the reason.
NOT_CARRIED = {
    "admin.LogEntry": "what staff did here; the audit stays, too",
    "analytics.AgentAddresses": "of the deployment",
    "analytics.ArchiveFolder": "of the deployment",
    "analytics.Sharding": "of the deployment; a project keeps its own shards",
    "assistant.GroupingProgress": "of the deployment: questions are grouped before they are moved",
    "assistant.WidgetFile": "of the release",
    "auth.Group": "of the deployment",
    "auth.Group_permissions": "of the deployment",
    "auth.Permission": "of the release",
    "auth.User": "`users` matches them by name",
    "auth.User_groups": "rights on the whole deployment",
    "auth.User_user_permissions": "rights on the whole deployment",
    "contenttypes.ContentType": "of the release",
    "notifications.Digest": "of the deployment",
    "notifications.Routine": "of the deployment",
    "otp_static.StaticDevice": "`users` copies those of new users",
    "otp_static.StaticToken": "`users` copies those of new users",
    "otp_totp.TOTPDevice": "`users` copies those of new users",
    "privacy.AuditEntry": "a chain of digests of what was done here",
    "privacy.AuditHead": "the end of that chain",
    "projects.Counter": "limits of the last minutes, by address",
    "projects.Deployment": "of the deployment",
    "projects.LimitUse": "how much of its limits the deployment used",
    "projects.MoveProgress": "of the move",
    "sessions.Session": "people log in again",
    "sign_on.Identity": "`users` copies those of new users",
}
# Exports that are being read write their place here. Reads stay up, so there may be more rows than are moved.
WRITTEN_BY_READS = ("analytics.Snapshot",)


@cache
def find_paths() -> dict[type[Model], str]:
    """For each model that is carried, the look-up that leads to its organization. Those that rows refer to come first.

    For example `project__organization` for a thread, and `document__project__organization` for a section.
    """
    paths: dict[type[Model], str] = {Organization: "pk"}
    for model in list_models():
        if model is not Organization and model._meta.label not in NOT_CARRIED:
            paths[model] = min(_list_paths(model, paths))[-1]
    return paths


def _list_paths(model: type[Model], paths: dict[type[Model], str]) -> Iterator[tuple[bool, int, str]]:
    """Each look-up, after whether it may be empty and how many tables it passes."""
    for field in model._meta.concrete_fields:
        parent = field.related_model
        if isinstance(parent, type) and parent in paths:
            path = field.name if parent is Organization else f"{field.name}__{paths[parent]}"
            yield field.null, path.count("__"), path


def select_rows(model: type[Model], organization_id: int, alias: str = DEFAULT_DB_ALIAS) -> "QuerySet[Model]":
    """The rows of an organization in a table."""
    return model._base_manager.using(alias).filter(**{find_paths()[model]: organization_id})


def find_owner(model: type[Model]) -> "tuple[Field[object, object], type[Model]]":
    """The column that leads to the organization, and the model that it refers to."""
    field = model._meta.get_field(find_paths()[model].partition("__")[0])
    return field, field.related_model  # type: ignore[return-value]  # a foreign key


def list_user_fields(model: type[Model]) -> "list[Field[object, object]]":
    """The columns that refer to users."""
    return [field for field in model._meta.concrete_fields if field.related_model is get_user_model()]
