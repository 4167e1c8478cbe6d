"""Deletes the copy that an organization has left behind. Its row and its projects stay: they say where it lives."""

from docsite.core.tenants.models import Organization, Project
from docsite.server.placement import copying, fence
from docsite.server.placement.deployments import PlacementError


def remove(organization: Organization) -> None:
    """Delete the copy here. It may be interrupted, and called again. Raises `PlacementError` if it lives here.

    Still nothing can be stored for the organization here, whatever process tries.
    """
    if organization.deployment_id is None:
        raise PlacementError(f"{organization} lives here. Only the copy that a move has left can be removed.")
    models = [model for model in fence.list_models() if model is not Project]
    fence.remove(organization.pk, models, fence.DELETE)
    copying.delete_all(organization.pk)
