"""The start page of the admin: the user's projects, each with three numbers, their trend, and what needs a person."""

from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from analytics.dashboard.next_steps import MAX_STEPS, NextStep, count_waiting, list_waiting
from analytics.reports import visitor_counts
from assistant.conversations import answer_statistics
from assistant.conversations.outcomes import WITHOUT_ANSWER, count_unanswered, measure_rate
from docsite.core.notifications.models import Alert
from docsite.core.notifications.topics import find_topic
from docsite.core.tenants.models import Project
from docsite.core.tenants.roles import has_role
from docsite.core.tenants.staff import projects_of
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.formatting import format_share
from docsite.core.workspace.reports.report_state import ReportState, previous_period
from docsite.core.workspace.reports.tables import Change
from docsite.core.workspace.reports.tiles import Tile
from search.models import Document

PAGE_SIZE = 24
FEW = 6  # projects that are found without a search
SEARCHED = ("name", "domain", "docs_url", "organization__name")


@dataclass(frozen=True)
class Card:
    """A project of the start page."""

    project: Project
    url: str
    tiles: list[Tile]
    steps: list[NextStep]


def show_start(request: HttpRequest) -> HttpResponse:
    """Show the user's projects, those with an open alert first. The address holds the words and the page."""
    words = request.GET.get("q", "").replace("\0", "")[:200]
    alerts = Alert.objects.filter(cleared_at=None)
    found = projects_of(request).select_related("organization", "analytics_settings")
    found = found.annotate(
        is_alerted=Exists(alerts.filter(project=OuterRef("pk"))),
        has_pages=Exists(Document.objects.filter(project=OuterRef("pk"))),
    ).order_by("-is_alerted", "domain")
    for word in words.split():
        found = found.filter(reduce(or_, (Q((f"{name}__icontains", word)) for name in SEARCHED)))
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    zones = {project.time_zone: project.zone for project in page}
    cards: dict[int, Card] = {}
    for name, zone in zones.items():
        with timezone.override(zone):  # days are those of the project's reports
            of_zone = _build_cards(request, [project for project in page if project.time_zone == name])
        cards |= {card.project.pk: card for card in of_zone}
    context = {
        "title": "Projects",
        "cards": [cards[project.pk] for project in page],
        "page": page,
        "words": words,
        "has_search": words or page.paginator.count > FEW,
        "alerts": alerts.filter(project=None) if request.user.is_superuser else [],
    }
    return TemplateResponse(request, "admin/start.html", {**admin.site.each_context(request), **context})


def _build_cards(request: HttpRequest, projects: list[Project]) -> list[Card]:
    """The cards of projects in the current time zone, with as many queries for every number of them."""
    state = ReportState()
    start, end = state.window(timezone.now())
    earlier = previous_period(start, end) or (start, start)
    outcomes, past = (answer_statistics.count_outcomes(projects, *range_) for range_ in ((start, end), earlier))
    requests, feedback = count_waiting(projects, start, end)
    alerts = Alert.objects.filter(project__in=projects, cleared_at=None).order_by("opened_at")
    visitors = visitor_counts.count_sites(projects, [earlier, (start, end)])
    cards = []
    for project, (seen_before, seen), now, before in zip(projects, visitors, outcomes, past, strict=True):
        urls = navigation.find_urls(request, project)
        dates = state.dates_link
        asked, asked_before = (some.total() - some["running"] for some in (now, before))
        rate = format_share(measure_rate(before))
        tiles = [
            _build_tile("Visitors", seen, seen_before, urls["visitors"] + dates),
            _build_tile("Questions", asked, asked_before, urls["questions"] + dates),
            Tile(
                "Answered",
                format_share(measure_rate(now)),
                f"{urls['conversations']}{dates}&outcome={WITHOUT_ANSWER}",
                f"{rate} before" if rate else "",
            ),
        ]
        own = [alert for alert in alerts if alert.project_id == project.pk and _may_read(request, project, alert)]
        steps = [NextStep(alert.title, "Look at it", alert.path) for alert in own]
        if not project.has_pages and "sources" in urls:  # type: ignore[attr-defined]  # annotated
            steps.append(NextStep("There are no pages to answer from.", "Add a source", urls["sources"]))
        waiting = requests.get(project.pk, 0), count_unanswered(now), feedback.get(project.pk, 0)
        steps += list_waiting(urls, dates, *waiting)
        cards.append(Card(project, urls[navigation.HOME], tiles, steps[:MAX_STEPS]))
    return cards


def _build_tile(label: str, now: int, before: int, url: str) -> Tile:
    """A number with its change; without a value where there is nothing yet."""
    return Tile(label, f"{now:,}" if now or before else "", url, "", Change(now, before) if before else None, "good")


def _may_read(request: HttpRequest, project: Project, alert: Alert) -> bool:
    topic = find_topic(alert.topic)
    return bool(topic and topic.role and has_role(request, project.organization_id, topic.role))


navigation.add_address("", show_start, "index")
