"""The page of dead ends in the admin, which is also a kind of gap."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, F
from django.http import HttpRequest, HttpResponse, QueryDict

from assistant.admin import gaps
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.links import Choice
from docsite.extras.dead_ends.formats import HTML, WRITERS
from docsite.extras.dead_ends.models import MissingPage
from docsite.extras.dead_ends.redirects import CONFIDENCE

KEY = "dead-ends"
ALL = "all"
PAGE_SIZE = 50


def show_dead_ends(request: HttpRequest, project: Project) -> HttpResponse:
    """Addresses that were asked for, the most frequent first, and pages that went. The address holds kind and page."""
    kind = request.GET.get("kind", ALL)
    kind = kind if kind in MissingPage.Kind.values else ALL
    rows = MissingPage.objects.filter(project=project).defer("sketch")
    numbers = dict(rows.order_by().values_list("kind").annotate(Count("pk")))
    asked = F("people") + F("agents") + F("crawlers")
    chosen = rows if kind == ALL else rows.filter(kind=kind)
    page = Paginator(chosen.order_by(asked.desc(), "-last_at", "path"), PAGE_SIZE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "kinds": [
            Choice(f"All {sum(numbers.values()):,}", _link(ALL), kind == ALL),
            *(
                Choice(f"{label} {numbers.get(value, 0):,}", _link(value), value == kind)
                for value, label in MissingPage.Kind.choices
            ),
        ],
        "page": page,
        "confidence": CONFIDENCE,
        "formats": [*WRITERS, HTML],
        "previous": _link(kind, page.previous_page_number()) if page.has_previous() else "",
        "next": _link(kind, page.next_page_number()) if page.has_next() else "",
    }
    return navigation.render(request, "dead_ends/list.html", project, "Dead ends", context)


def _link(kind: str, page: int = 1) -> str:
    query = QueryDict(mutable=True)
    query.update({"kind": kind, **({"page": str(page)} if page > 1 else {})})
    return f"?{query.urlencode()}"


navigation.add_page(
    KEY, "Dead ends", group="Questions", position=41, views=[("", show_dead_ends, "")], reads=Role.VIEWER
)
gaps.add_kind(KEY, "Dead ends")
