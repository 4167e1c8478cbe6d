"""What the page "Limits and health" shows of analytics: views that wait to be counted, and the rules."""

from analytics import agents
from analytics.counting import unsealed
from analytics.models import AgentAddresses
from docsite.core.tenants.models import Project
from docsite.core.workspace.health.sections import Fact, add_section


def list_views(project: Project) -> list[Fact]:
    """How many views wait, and which rules classify them."""
    waiting = unsealed.count_unsealed_views(project.pk)
    more = " or more" if waiting == unsealed.MAX_COUNTED else ""
    addresses = AgentAddresses.objects.order_by("-read_at").values_list("read_at", flat=True).first()
    return [
        Fact("Views to be counted", f"{waiting:,}{more}", "the visitors report counts them when it is opened, too"),
        Fact("Rules of clients", f"version {agents.VERSION}", "each view has the version that classified it"),
        Fact("Addresses of agents", f"read {addresses:%Y-%m-%d}" if addresses else "not read"),
    ]


add_section("Page views", list_views, position=60)
