"""Records changes of keys, settings and roles, log-ins, downloads and commands, whoever makes them.

It listens to Django's signals of the models that an app names in `audited` of its AppConfig. An update of many rows
at once (`QuerySet.update`) sends no signal, so code that changes these models saves them one by one.
"""

from contextlib import suppress
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, transaction
from django.db.models import Field, Model
from django.db.models.signals import post_delete, post_save, pre_save

from docsite.core import context, signals
from docsite.core.tenants.models import ApiKey, Membership, Organization, Project, ReaderKey
from docsite.privacy import chain
from docsite.privacy.models import AuditEntry

_IGNORED = {  # the service itself changes these fields
    "last_login",
    "last_used_at",
    "state",
    "progress",
    "error",
    "outcome",
    "due_at",
    "started_at",
    "holder",
    "leased_until",
    "finished_at",
    "read_at",
}
_READABLE = {"allowed_origins", "docs_url", "networks", "scopes"}  # texts without secrets: the audit shows them
_READING_COMMANDS = {"checkaudit", "checkmodel", "classify", "conform", "demo", "listkeys", "search", "serve", "train"}
_OLD_VALUES = "_values_before_the_change"


def watch() -> None:
    """Begin to write the audit of this process, by receivers of Django's signals.

    It records changes of audited models and of users, log-ins, log-outs, downloads and commands.
    """
    audited = [app.get_model(name) for app in apps.get_app_configs() for name in getattr(app, "audited", ())]
    for model in (*audited, get_user_model()):
        name = f"audit {model._meta.label}"
        pre_save.connect(_keep_old_values, sender=model, dispatch_uid=name)
        post_save.connect(_on_save, sender=model, dispatch_uid=name)
        post_delete.connect(_on_delete, sender=model, dispatch_uid=name)
    user_logged_in.connect(_on_login, dispatch_uid="audit")
    user_logged_out.connect(_on_logout, dispatch_uid="audit")
    user_login_failed.connect(_on_failed_login, dispatch_uid="audit")
    signals.log_in_changed.connect(_on_log_in_change, dispatch_uid="audit")
    signals.downloaded.connect(_on_download, dispatch_uid="audit")
    signals.command_started.connect(_on_command, dispatch_uid="audit")


def add_entry(
    action: str,
    subject: object,
    *,
    organization_id: int | None,
    project: str = "",
    details: dict[str, Any],
    before: dict[str, Any] | None = None,
) -> AuditEntry:
    """Add an entry to the chain of an organization. The actor and the network come from the context."""
    entry = AuditEntry(
        network=context.get_network()[:64],
        before=before or {},
        actor=context.get_actor()[:200],
        action=action,
        object=str(subject)[:300],
        organization_id=organization_id,
        project=project,
        details=details,
    )
    chain.append(entry)
    return entry


def _on_login(sender: Any, user: Any, request: Any = None, **kwargs: Any) -> None:
    method = getattr(request, "log_in_method", None)
    _add_user_entries("logged in", user, {"by": method.value} if method else {})


def _on_logout(sender: Any, user: Any, **kwargs: Any) -> None:
    if user:
        _add_user_entries("logged out", user)


def _on_log_in_change(
    sender: Any, user: Any, action: str, details: dict[str, Any] | None = None, **kwargs: Any
) -> None:
    _add_user_entries(action, user, details)


def _on_failed_login(sender: Any, credentials: dict[str, Any], **kwargs: Any) -> None:
    """Name the account only if it exists: people type passwords into the field of the name."""
    name = str(credentials.get("username", "")).replace("\0", "")[:200]
    details = {"by": credentials["by"]} if "by" in credentials else {}
    _add_user_entries("log-in failed", get_user_model().objects.filter(username=name).first(), details)


def _add_user_entries(action: str, user: Any, details: dict[str, Any] | None = None) -> None:
    """Add an entry to the chain of each organization of a user."""
    organizations = Membership.objects.filter(user=user).values_list("organization_id", flat=True) if user else ()
    for organization_id in organizations or (None,):
        name = user.get_username() if user else "an account that does not exist"
        add_entry(action, name, organization_id=organization_id, details=details or {})


def _on_download(sender: Any, name: str, domain: str, **kwargs: Any) -> None:
    project = Project.objects.filter(domain=domain).first()
    organization_id = project.organization_id if project else None
    add_entry("downloaded", name, organization_id=organization_id, project=domain, details={})


def _on_command(sender: Any, name: str, domain: str, **kwargs: Any) -> None:
    if name in _READING_COMMANDS:
        return
    with suppress(DatabaseError), transaction.atomic():  # the command itself says what is wrong with the database
        project = Project.objects.filter(domain=domain).first()
        organization_id = project.organization_id if project else None
        add_entry("command run", name, organization_id=organization_id, project=domain if project else "", details={})


def _keep_old_values(
    sender: type[Model], instance: Model, raw: bool = False, update_fields: Any = None, **kwargs: Any
) -> None:
    is_of_interest = not raw and (update_fields is None or not _IGNORED.issuperset(update_fields))
    if is_of_interest and instance.pk is not None and not instance._state.adding:
        before = sender._base_manager.filter(pk=instance.pk).values().first()
        setattr(instance, _OLD_VALUES, before)


def _on_save(
    sender: type[Model], instance: Model, created: bool, raw: bool = False, update_fields: Any = None, **kwargs: Any
) -> None:
    if raw or (created and _is_settings(sender) and not context.get_actor()):
        return  # the service creates a row with the defaults when it needs one
    before: dict[str, Any] = instance.__dict__.pop(_OLD_VALUES, None) or {}
    changed = [
        field
        for field in sender._meta.concrete_fields
        if not field.primary_key
        and field.name not in _IGNORED
        and (update_fields is None or field.name in update_fields or field.attname in update_fields)
        and (created or before.get(field.attname) != getattr(instance, field.attname))
    ]
    if created or changed:
        is_revoked = isinstance(instance, ApiKey | ReaderKey) and any(field.name == "revoked_at" for field in changed)
        verb = "created" if created else "revoked" if is_revoked else "changed"
        details = {field.name: _describe_value(field, getattr(instance, field.attname)) for field in changed}
        old = {field.name: _describe_value(field, before.get(field.attname)) for field in changed if before}
        _add_model_entry(verb, instance, details, old)


def _is_settings(model: type[Model]) -> bool:
    """Whether a table has one row for each project."""
    return any(field.one_to_one and field.related_model is Project for field in model._meta.concrete_fields)


def _on_delete(sender: type[Model], instance: Model, **kwargs: Any) -> None:
    with suppress(ObjectDoesNotExist):  # it is deleted with its project or organization, which has an entry of its own
        fields = [field for field in sender._meta.concrete_fields if field.choices]
        old = {field.name: _describe_value(field, getattr(instance, field.attname)) for field in fields}
        _add_model_entry("deleted", instance, {}, old)


def _add_model_entry(verb: str, instance: Model, values: dict[str, Any], before: dict[str, Any]) -> None:
    project = instance if isinstance(instance, Project) else getattr(instance, "project", None)
    organization_id = instance.pk if isinstance(instance, Organization) else None
    if organization_id is None:
        organization_id = getattr(project or instance, "organization_id", None)
    add_entry(
        f"{instance._meta.verbose_name} {verb}",
        instance,
        organization_id=organization_id,
        project=project.domain if project else "",
        details=values,
        before=before,
    )


def _describe_value(field: "Field[Any, Any]", value: Any) -> Any:
    """The value if it is a choice, a number, a date or a switch. Of most texts only whether it is set."""
    if field.name in _READABLE or value is None or isinstance(value, bool | int | float) or field.choices:
        return value
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return "set" if value else "empty"
