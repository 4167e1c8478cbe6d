"""What people choose to get by e-mail. Each topic has the least role of those who may get it."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from docsite.core.tenants.models import Membership, Project, Role
from docsite.core.tenants.roles import list_roles_from


@dataclass(frozen=True)
class Topic:
    """A topic. Without a role it is for superusers."""

    key: str
    label: str
    role: Role | None = Role.VIEWER


# How long after the last log-in a role by a group still allows e-mail. Only a log-in tells who has left.
GROUP_ROLE_LIFETIME = timedelta(days=60)
DIGEST = Topic("digest", "The weekly digest")
_topics: dict[str, Topic] = {DIGEST.key: DIGEST}


def add_topic(topic: Topic) -> None:
    """Let people choose a topic. Apps call this when they start."""
    _topics[topic.key] = topic


def find_topic(key: str) -> Topic | None:
    """The topic with this key. None if no release has it any more, or none has it yet."""
    return _topics.get(key)


def list_topics(user: AbstractBaseUser, project: Project) -> list[Topic]:
    """The topics that a user may get about a project, the digest first. None for a stranger or a former member.

    A role by a group does not count if the user has not logged in for `GROUP_ROLE_LIFETIME`.
    """
    is_superuser = bool(getattr(user, "is_superuser", False))
    if not user.is_active or not getattr(user, "is_staff", False):
        return []
    found = Membership.objects.filter(organization=project.organization_id, user=user.pk)
    if user.last_login is None or user.last_login < timezone.now() - GROUP_ROLE_LIFETIME:
        found = found.filter(is_from_groups=False)
    roles = [Role.OWNER] if is_superuser else [Role(role) for role in found.values_list("role", flat=True)]
    return [
        topic
        for topic in _topics.values()
        if (is_superuser if topic.role is None else bool(set(roles) & set(list_roles_from(topic.role))))
    ]
