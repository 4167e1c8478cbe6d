"""The page “Replay”: what the last preview of each source did to readers' questions, and closed gaps."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from assistant.admin import gap_group
from assistant.improving.gaps import report
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from docsite.extras.replay import held
from docsite.extras.replay.asked import DAYS, show
from docsite.extras.replay.certainty import page  # noqa: F401  # it adds the page “Certainty”
from docsite.extras.replay.surfaces import columns  # noqa: F401  # it adds columns of golden questions
from search.models import SearchQuery, Source

KEY = "replay"


def show_replays(request: HttpRequest, project: Project) -> HttpResponse:
    """The last replay of each source, the newest first."""
    sources = Source.objects.filter(project=project, outcome__effects__replay__isnull=False)
    replays = [_describe(source) for source in sources]
    context = {
        "replays": sorted(replays, key=lambda replay: replay["at"], reverse=True),
        "closed": [
            (one, navigation.page_url("gaps", project, one.group, name="group")) for one in held.find_closed(project)
        ],
        "days": DAYS,
    }
    return navigation.render(request, "replay/replays.html", project, "Replay", context)


def _describe(source: Source) -> dict[str, Any]:
    kept = source.outcome["effects"]["replay"]
    questions = report.load_rows([row["question"] for row in kept["rows"] if "question" in row])
    searches = SearchQuery.objects.in_bulk([row["search"] for row in kept["rows"] if "search" in row])
    for row in kept["rows"]:
        found = questions.get(row.get("question")) or searches.get(row.get("search"))
        row["text"] = show(found.text) if found else ""
    lost, won = ([row for row in kept["rows"] if row["change"] == change] for change in ("lost", "won"))
    return {
        **kept,
        "source": source.name,
        "at": datetime.fromisoformat(kept["at"]),
        "percents": [round(100 * share) for share in kept["shares"]],
        "tables": [
            ("lost", f"Would lose their answer: {kept['lost']}", lost),
            ("won", f"Would win an answer: {kept['won']}", won),
        ],
    }


gap_group.lines.append(held.describe_group)
navigation.add_page(
    KEY, "Replay", group="Content", position=67, views=[("", show_replays, "")], reads=Role.VIEWER, acts=Role.WRITER
)
