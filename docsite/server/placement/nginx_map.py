"""Tells nginx where each project lives: lines of a `map` from domains and project ids to addresses."""

from django.db import IntegrityError, transaction

from docsite.core.tenants.models import Organization, Project
from docsite.server.move.target import ALIAS
from docsite.server.placement import fence
from docsite.server.placement.deployments import FIRST, PlacementError
from docsite.server.placement.move import connect


def build() -> list[str]:
    """The lines for the projects that live elsewhere, by domain. Projects that live here need none."""
    projects = Project.objects.filter(organization__deployment__isnull=False).order_by("domain")
    rows = projects.values_list("domain", "project_id", "organization__deployment__address")
    return [f"{name} {address};" for domain, project_id, address in rows for name in (domain, project_id)]


def adopt(url: str) -> int:
    """Note the organizations and projects that were made in another deployment. Returns the number of new projects.

    Raises `PlacementError` if one has the name or the domain of another one.
    """
    here, there = connect(url)
    if here.name != FIRST:
        raise PlacementError(f"Only the deployment “{FIRST}” knows where projects live.")
    new = 0
    for organization in Organization.objects.using(ALIAS).filter(deployment=None, move_state=""):
        known = Organization.objects.filter(pk=organization.pk).first()
        if known and known.deployment_id != there.pk:
            continue  # on its way
        theirs = Project.objects.using(ALIAS).filter(organization=organization.pk)
        missing = list(theirs.exclude(pk__in=list(Project.objects.values_list("pk", flat=True))))
        if known and not missing:
            continue
        organization.deployment_id = there.pk
        fence.remove(organization.pk, fence.list_models())  # it names the projects
        try:
            with transaction.atomic():
                if known is None:
                    organization.save_base(raw=True, using="default", force_insert=True)
                for project in missing:
                    project.save_base(raw=True, using="default", force_insert=True)
                    new += 1
        except IntegrityError as failure:
            reason = " ".join(str(failure).split())
            raise PlacementError(f"{organization} has a name or a domain that exists here, too: {reason}") from None
        finally:
            fence.build(organization.pk, fence.list_models())
    return new
