"""Organizations, their members and the invitations of further ones."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone


class Organization(models.Model):
    """A tenant. Admin keys and rate limits belong to it."""

    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    requires_single_sign_on = models.BooleanField(
        default=False, db_default=False, help_text="Members open it only after single sign-on, not by password."
    )
    requires_second_factor = models.BooleanField(
        "requires two-factor log-in",
        default=False,
        db_default=False,
        help_text="Who logs in by password opens it only with a code, too.",
    )

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @transaction.atomic
    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the organization and its projects. Who adds a row of them at the same time gets an IntegrityError."""
        list(Organization.objects.select_for_update().filter(pk=self.pk))
        list(self.projects.select_for_update())
        return super().delete(*args, **kwargs)


class Role(models.TextChoices):
    """What a member of an organization may do. Each role may do what the role before it may."""

    VIEWER = "viewer", "Viewer: reads reports"
    WRITER = "writer", "Writer: works on content, gaps and feedback"
    OWNER = "owner", "Owner: manages keys, people and settings, and erases data"

    @property
    def rank(self) -> int:
        """A role of a higher rank may do more."""
        return list(Role).index(self)


class Membership(models.Model):
    """A staff user's access to an organization. Superusers need none."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.OWNER, db_default=Role.OWNER.value)
    is_from_groups = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="Each single sign-on sets it by the user's groups."
    )

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["organization", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization}"


class Invitation(models.Model):
    """A link that makes somebody a member of an organization, once. Only the digest of its token is stored."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    email = models.EmailField("e-mail address", blank=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    mail_failure = models.CharField(
        max_length=400, blank=True, default="", db_default="", help_text="Why the link could not be sent by e-mail."
    )

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return f"number {self.pk} as {self.role}"  # without the e-mail address, which the audit must not hold
