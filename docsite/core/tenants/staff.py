"""What a staff user may see in the admin: the organizations that they belong to, and their projects."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone

from docsite.core.tenants.log_in_rules import find_memberships
from docsite.core.tenants.models import Membership, Organization, Project, Role
from docsite.core.tenants.roles import SAFE_METHODS, find_rule, has_role, list_roles_from


def is_staff(request: HttpRequest) -> bool:
    """Whether the request is from an active staff user."""
    return bool(request.user.is_active and request.user.is_staff)


def organizations_of(request: HttpRequest, role: Role = Role.VIEWER) -> "QuerySet[Organization]":
    """The organizations in which the user has at least this role, and which the session opens."""
    organizations = Organization.objects.all()
    if request.user.is_superuser:
        return organizations
    own = find_memberships(request).filter(role__in=list_roles_from(role))
    return organizations.filter(pk__in=own.values("organization"))


def projects_of(request: HttpRequest, role: Role = Role.VIEWER) -> "QuerySet[Project]":
    """The projects for which the user has at least this role, by domain."""
    return Project.objects.filter(organization__in=organizations_of(request, role))


def project_of(request: HttpRequest, domain: str) -> Project:
    """The project of a domain, for an address of the admin that the user's role may open or act on.

    Raises 404 if the user does not belong to the organization, whether the project exists or not; 403 if the role does
    not suffice. Sets `request.may_act`: whether the user may send the forms of this page. Until the response, the
    project's time zone is Django's current one.
    """
    if not is_staff(request):
        raise PermissionDenied
    project = projects_of(request).filter(domain=domain).first()
    if project is None:
        raise Http404
    match = request.resolver_match
    rule = find_rule((match and match.url_name) or "")
    may_act = has_role(request, project.organization_id, rule.acts)
    request.may_act = may_act  # type: ignore[attr-defined]
    if request.method not in (*SAFE_METHODS, None) and not may_act:
        raise PermissionDenied(f"Your role in {project.organization} does not allow this.")
    if not has_role(request, project.organization_id, rule.reads):
        raise PermissionDenied(f"Your role in {project.organization} does not allow you to open this page.")
    timezone.activate(project.zone)
    return project


def find_assignees(project: Project) -> "QuerySet[AbstractUser]":
    """The users who can be assigned work: writers and owners of the project's organization, by name."""
    users = get_user_model().objects.filter(is_active=True, is_staff=True)
    members = Membership.objects.filter(organization=project.organization_id, role__in=list_roles_from(Role.WRITER))
    return users.filter(pk__in=members.values("user")).order_by("username")
