"""Who a user is at the provider, and which roles the provider's groups have."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from docsite.core.tenants.models import Organization, Role


class Identity(models.Model):
    """A user at a provider. Issuer and subject together name a person forever; e-mail addresses and names do not."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "single sign-on identity"
        verbose_name_plural = "single sign-on identities"
        constraints: ClassVar = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_user_of_a_subject")]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"


class GroupRole(models.Model):
    """The role that members of a group of the provider have in an organization."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="group_roles")
    group = models.CharField(max_length=255)
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        verbose_name = "role of a group"
        verbose_name_plural = "roles of groups"
        ordering: ClassVar = ["group"]
        indexes: ClassVar = [models.Index(fields=["group"], name="roles_of_a_group")]
        constraints: ClassVar = [models.UniqueConstraint(fields=["organization", "group"], name="one_role_of_a_group")]

    def __str__(self) -> str:
        return f"{self.group} as {self.role}"
