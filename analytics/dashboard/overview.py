"""The home of a project in the admin: its numbers at a glance, what changed most, and what to do next."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from analytics.counting import pages
from analytics.dashboard import live, next_steps
from analytics.feedback import triage
from analytics.reports import visitor_counts
from analytics.reports.filtered_counts import is_rounded
from analytics.reports.visitor_counts import Counts
from assistant.conversations import answer_statistics
from assistant.conversations.answer_statistics import AnswerStatistics, AnswerTotals
from assistant.conversations.outcomes import WITHOUT_ANSWER, count_unanswered
from assistant.models import Message
from assistant.spending import budget
from assistant.spending.prices import format_money
from docsite.core.http.dates import begin_day
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import links, time_steps
from docsite.core.workspace.reports.formatting import format_share, percent, visible
from docsite.core.workspace.reports.report_state import ReportState, previous_period
from docsite.core.workspace.reports.tables import FEW, Change
from docsite.core.workspace.reports.tiles import Tile, format_milliseconds
from search.query_log import recording, totals
from search.query_log.totals import Counts as SearchCounts

MAX_CHANGES = 5


@dataclass(frozen=True)
class PageChange:
    """A page whose visitors changed, with the address of the page about it."""

    path: str
    change: Change
    url: str


@dataclass(frozen=True)
class Numbers:
    """What the home shows of a range."""

    visitors: Counts
    answers: AnswerStatistics
    searches: list[SearchCounts]
    thumbs: Counter[bool | None]  # whether answers and pages were helpful
    steps: list[time_steps.Step]  # of the answers and the searches

    @classmethod
    def load(cls, project: Project, start: datetime, end: datetime) -> "Numbers":
        """Count a half-open range. Its steps end today."""
        last = min(end, begin_day(timezone.now(), 1))
        steps = list(time_steps.split(start, last, time_steps.choose_step(start, last))) or [(start, end)]
        return cls(
            visitor_counts.count_visitors(project, start, end, fresh=False),
            answer_statistics.summarize(project, steps),
            totals.count_steps(project, steps),
            triage.count(project, start, end).thumbs,
            steps,
        )


def show_overview(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the numbers of a range beside those of the period before."""
    now = timezone.now()
    state, window, errors = ReportState.read(request.GET)
    context = links.range_picker(state, window, errors)
    if window:
        start, end = window
        visitor_counts.refresh(project, visitor_counts.PAGE_SECONDS)
        recording.flush()
        earlier = previous_period(start, end)
        urls = navigation.find_urls(request, project)
        numbers = Numbers.load(project, start, end)
        before = Numbers.load(project, *earlier) if earlier else None
        context |= {
            **live.describe_live(project),
            "live_link": navigation.page_url(navigation.HOME, project, name="live"),
            "earlier": earlier,
            "rounded": is_rounded(project, start, end, *(earlier or ())),
            "tiles": _build_tiles(project, state, numbers, before),
            "overlap": numbers.visitors.overlap,
            "changes": _find_changes(project, state, numbers, before),
            "urls": urls,
            "reports": [(page.label, urls[page.key]) for page in navigation.all_pages() if page.is_report],
            "steps": next_steps.find_next_steps(request, project, start, end, now, state.dates_link),
        }
    return navigation.render(request, "admin/workspace/overview.html", project, project.name, context, wrong=errors)


def _build_tiles(project: Project, state: ReportState, numbers: Numbers, before: Numbers | None) -> list[Tile]:
    urls = {page.key: page.url(project) for page in navigation.all_pages()}
    urls = {key: url if "?" in url else url + state.dates_link for key, url in urls.items()}
    answers, past = numbers.answers, before.answers.whole if before else None
    return [
        *_build_visitor_tiles(project, numbers, before, urls["visitors"]),
        *_build_question_tiles(answers, past, urls),
        _build_thumbs_tile(numbers.thumbs, urls["feedback"]),
        _build_search_tile(numbers, before, urls["searches"]),
        _build_token_tile(project, answers, past, urls["costs"]),
        _build_time_tile(answers, past, urls["questions"]),
    ]


def _compare(now: int, then: int | None) -> Change | None:
    return Change(now, then) if then else None


def _build_visitor_tiles(project: Project, numbers: Numbers, before: Numbers | None, url: str) -> list[Tile]:
    steps = visitor_counts.count_steps(project, numbers.steps)
    seen = numbers.visitors.totals
    past = before.visitors.totals if before else None
    visitors = Tile(
        label="Visitors",
        value=f"{seen['total']:,}",
        url=url,
        note="people and AI clients, each counted once",
        change=_compare(seen["total"], past["total"] if past else None),
        more_is="good",
        course=[step.visitors["total"] for step in steps],
    )
    before_share = f"; {percent(past['ai'], past['total'])} before" if past and past["total"] else ""
    share = Tile(
        label="AI share",
        value=percent(seen["ai"], seen["total"]) if seen["total"] else "",
        url=url,
        note=f"{seen['ai']:,} AI, {seen['human']:,} human{before_share}",
        course=[step.visitors["ai"] / step.visitors["total"] if step.visitors["total"] else None for step in steps],
    )
    return [visitors, share]


def _build_question_tiles(answers: AnswerStatistics, past: AnswerTotals | None, urls: dict[str, str]) -> list[Tile]:
    asked = Tile(
        label="Questions",
        value=f"{answers.whole.ended:,}",
        url=urls["questions"],
        change=_compare(answers.whole.ended, past.ended if past else None),
        more_is="good",
        course=[step.ended for step in answers.steps],
    )
    answered = Tile(
        label="Answered",
        value=format_share(answers.whole.answered_rate),
        url=f"{urls['conversations']}&outcome={WITHOUT_ANSWER}",
        note=_note_on_answers(answers.whole.outcomes, past.answered_rate if past else None),
        course=[step.answered_rate for step in answers.steps],
    )
    return [asked, answered]


def _build_thumbs_tile(thumbs: Counter[bool | None], url: str) -> Tile:
    rated = thumbs[True] + thumbs[False]
    return Tile(
        label="Found helpful",
        value=percent(thumbs[True], rated) if rated else "",
        url=url,
        note=f"{thumbs[True]:,} thumbs up, {thumbs[False]:,} down" if rated else "no thumbs in this range",
    )


def _build_search_tile(numbers: Numbers, before: Numbers | None, url: str) -> Tile:
    searches = _sum_up(numbers)
    share = percent(searches.without_result, searches.searches)
    return Tile(
        label="Searches without result",
        value=f"{searches.without_result:,}",
        url=f"{url}&tab=empty",
        note=f"{share} of {searches.searches:,} searches" if searches.searches else "no searches in this range",
        change=_compare(searches.without_result, _sum_up(before).without_result if before else None),
        more_is="bad",
        course=[search.without_result for search in numbers.searches],
    )


def _build_token_tile(project: Project, answers: AnswerStatistics, past: AnswerTotals | None, url: str) -> Tile:
    tokens = _count_tokens(answers.whole)
    return Tile(
        label="Tokens of answers",
        value=f"{tokens:,}",
        url=url,
        note=_note_on_cost(project, answers.whole),
        change=_compare(tokens, _count_tokens(past) if past else None),
        course=[_count_tokens(step) for step in answers.steps],
    )


def _build_time_tile(answers: AnswerStatistics, past: AnswerTotals | None, url: str) -> Tile:
    times = answers.whole.first_token
    return Tile(
        label="First words after",
        value=format_milliseconds(times.p50 if times else None),
        url=url,
        note=f"median; 95 % within {format_milliseconds(times.p95)}"
        if times
        else "no answers with times in this range",
        change=_compare(times.p50, past.first_token.p50 if past and past.first_token else None) if times else None,
        more_is="bad",
        course=[step.first_token.p50 if step.first_token else None for step in answers.steps],
    )


def _count_tokens(totals: AnswerTotals) -> int:
    return totals.prompt_tokens + totals.completion_tokens


def _sum_up(numbers: Numbers) -> SearchCounts:
    return sum(numbers.searches, SearchCounts())


def _note_on_answers(outcomes: Counter[str], before: float | None) -> str:
    note = f"{count_unanswered(outcomes):,} without an answer" if outcomes else "no questions in this range"
    if greetings := outcomes[Message.Outcome.GREETING]:
        note += f", {greetings:,} only small talk"
    return f"{note}; {format_share(before)} before" if before is not None else note


def _note_on_cost(project: Project, answers: AnswerTotals) -> str:
    spent = f"cost {format_money(answers.cost)}" if answers.cost else ""
    unpriced = f"no price set for {answers.unpriced:,} answers" if answers.unpriced else ""
    limits = [f"{limit.percent} % of the {limit.name} used" for limit in budget.list_limits(project)]
    return "; ".join(filter(None, [spent, unpriced, *limits])) or "no limit is set"


def _find_changes(project: Project, state: ReportState, numbers: Numbers, before: Numbers | None) -> list[PageChange]:
    """The pages whose visitors changed most against the period before. Pages with few visitors are left out."""
    if before is None or not before.visitors.totals["total"]:
        return []
    now, then = (
        {number: total for number, _, _, total in counts.table[1:].tolist()}
        for counts in (numbers.visitors, before.visitors)
    )
    compared = [(number, Change(now.get(number, 0), then.get(number, 0))) for number in now.keys() | then.keys()]
    largest = [pair for pair in compared if max(pair[1].now, pair[1].before) >= FEW and pair[1].by]
    largest.sort(key=lambda pair: (-pair[1].by, pair[0]))
    chosen = largest[:MAX_CHANGES]
    paths = pages.paths_of(project.pk, [number for number, _ in chosen])
    return [
        PageChange(visible(path), change, navigation.page_url("pages", project) + state.keep_link(path))
        for path, (_, change) in zip(paths, chosen, strict=True)
    ]
