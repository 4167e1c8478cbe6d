"""The audit: who changed keys, settings and roles, and who erased data."""

from typing import Any, ClassVar, NoReturn

from django.db import models
from django.utils import timezone


class AppendOnlyQuerySet(models.QuerySet["AuditEntry"]):
    """Rows that nobody changes or deletes. The database refuses it, too."""

    def update(self, **values: Any) -> NoReturn:
        """Raise `TypeError`."""
        raise TypeError("The audit is append-only.")

    delete = update


class AuditEntry(models.Model):
    """One change. It stores the organization's number and the project's domain, so that it outlives both.

    It holds no secret and no personal data of readers: a reader is a keyed hash.
    """

    at = models.DateTimeField(default=timezone.now, editable=False)
    actor = models.CharField(max_length=200, blank=True, help_text="A user, or a command. Empty: the service itself.")
    action = models.CharField(max_length=40)
    object = models.CharField(max_length=300)
    organization_id = models.BigIntegerField(null=True)
    project = models.CharField(max_length=63, blank=True, help_text="The domain.")
    details = models.JSONField(default=dict, help_text="The new values, or what was done.")
    before = models.JSONField(default=dict, help_text="The values before the change.")
    network = models.CharField(max_length=64, blank=True, help_text="Where the actor was. Empty: on this machine.")
    position = models.BigIntegerField(editable=False, help_text="In the chain of the organization.")
    digest = models.CharField(max_length=64, editable=False)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        verbose_name = "audit entry"
        verbose_name_plural = "audit"
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["organization_id"], name="audit_of_an_organization")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization_id", "position"], name="one_audit_position")
        ]

    def __str__(self) -> str:
        return f"{self.action}: {self.object}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new entry. A stored one cannot be changed."""
        if not self._state.adding:
            raise TypeError("The audit is append-only.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise `TypeError`."""
        raise TypeError("The audit is append-only.")


class AuditHead(models.Model):
    """The last entry of a chain of the audit. Writers lock its row."""

    chain = models.BigIntegerField(primary_key=True, help_text="The organization. 0: entries of no organization.")
    position = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.chain}: {self.position}"
