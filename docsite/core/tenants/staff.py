"""What a staff user may see in the admin: the organizations that they belong to, and their projects."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from docsite.core.tenants.models import Organization, Project


def is_staff(request: HttpRequest) -> bool:
    """Whether the request is from an active staff user."""
    return bool(request.user.is_active and request.user.is_staff)


def organizations_of(request: HttpRequest) -> "QuerySet[Organization]":
    """The organizations that the user may see."""
    organizations = Organization.objects.all()
    return organizations if request.user.is_superuser else organizations.filter(memberships__user=request.user.pk)


def projects_of(request: HttpRequest) -> "QuerySet[Project]":
    """The projects that the user may see, by domain."""
    return Project.objects.filter(organization__in=organizations_of(request))


def project_of(request: HttpRequest, domain: str) -> Project:
    """The project of a domain if the user may see it. Raises 404 otherwise, whether it exists or not."""
    if not is_staff(request):
        raise PermissionDenied
    project = projects_of(request).filter(domain=domain).first()
    if project is None:
        raise Http404
    return project


def find_assignees(project: Project) -> "QuerySet[AbstractUser]":
    """The users who can be assigned work: active staff of the project's organization, by name."""
    users = get_user_model().objects.filter(is_active=True, is_staff=True)
    return users.filter(memberships__organization=project.organization_id).distinct().order_by("username")
