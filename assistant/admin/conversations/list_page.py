"""The list of conversations, and its export."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from assistant.admin.conversations import exports
from assistant.admin.conversations.list_state import CALLERS, FILTERS, OUTCOMES, RUNGS, THUMBS, Filter, ListState
from assistant.admin.conversations.listing import Entry, Listing, load_turns, parse_cursor
from assistant.conversations import ratings
from assistant.conversations.outcomes import WITHOUT_ANSWER, count_unanswered
from assistant.conversations.ratings import Rating
from assistant.models import Message, Thread
from docsite.core.components.erasure import CONVERSATION, READER, SHARED_FP
from docsite.core.http.cursor import Moment
from docsite.core.http.streams import PieceResponse
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import links
from docsite.core.workspace.reports.downloads import name_file, refuse
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.links import Choice

KEY = "conversations"


@dataclass(frozen=True)
class Row:
    """A row of the list: an answer that passes the filters, with the question before it and its conversation."""

    url: str
    question: str
    answer: Message
    rung: str
    caller: str
    questions: int
    rating: Rating | None
    thread: Thread

    @property
    def erases(self) -> str:
        """Whose data its link erases: that of its reader, unless many share the fp."""
        return CONVERSATION if self.thread.fp == SHARED_FP else READER


@dataclass(frozen=True)
class Field:
    """A field of the form of filters. A list of choices has `choices`, and texts that occur are `suggested`."""

    filter: Filter
    value: str
    suggested: Sequence[str] = ()


def show_list(request: HttpRequest, project: Project) -> HttpResponse:
    """The list. Its address holds the filters, the range and the cursor."""
    state, errors = ListState.parse(request.GET)
    listing, after, wrong = build_listing(project, state)
    wrong = [*errors, *wrong]
    context = links.range_picker(state, (listing.start, listing.end) if listing else None, wrong)
    context["range_fields"] = state.hidden("from", "to", "range", "after")
    if listing:
        page = listing.load_page(after)
        outcomes = None if state.q else listing.count_outcomes()
        matching = None
        if outcomes is not None:
            total = outcomes.total()
            outcomes[WITHOUT_ANSWER] = count_unanswered(outcomes)
            matching = outcomes[state.outcome] if state.outcome else total
        context |= {
            "listing": listing,
            "page": page,
            "rows": build_rows(project, state, page.entries),
            "next": page.next and state.link(after=listing.cursor(page.next)),
            "matching": matching,
            "outcomes": _build_chips(state, "outcome", OUTCOMES, outcomes),
            "thumbs": _build_chips(state, "thumb", THUMBS),
            "filters": _build_fields(state, *listing.list_values()),
            "chips": _list_chosen(state),
            "unfiltered_chips": state.unfiltered_link,
            "erase": navigation.find_url("erase", project, request),
            "export": navigation.page_url(KEY, project, name="lines") + state.link(),
        }
    return navigation.render(request, "admin/assistant/conversations/list.html", project, "Conversations", context)


def export_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    """All conversations of the list as JSON lines."""
    state, errors = ListState.parse(request.GET)
    listing, _, wrong = build_listing(project, state)
    if listing is None or errors or wrong:
        return refuse([*errors, *wrong])
    name = name_file(f"{project.domain}-conversations.jsonl", (listing.start, listing.end))
    headers = {"Content-Type": "application/x-ndjson", "Content-Disposition": f'attachment; filename="{name}"'}
    return PieceResponse(exports.stream_listing(replace(listing, by_conversation=True)), headers)


def build_listing(project: Project, state: ListState) -> tuple[Listing | None, Moment | None, list[str]]:
    """The list of a state, its position, and sentences about what is wrong. No list without a valid range."""
    wrong = []
    if state.after:
        try:
            start, end, after = parse_cursor(state.after)
            return Listing(project, state, start, end), after, []
        except ValueError:
            wrong = ["after: was not issued by this list, so this is its beginning."]
    try:
        start, end = state.window(timezone.now())
    except ValueError as error:
        return None, None, [*wrong, *error.args]
    return Listing(project, state, start, end), None, wrong


def build_thread_url(project: Project, state: ListState, thread_id: str) -> str:
    """The address of a conversation that knows the list from which it was opened."""
    return navigation.page_url(KEY, project, thread_id, name="read") + state.link().removesuffix("?")


def build_rows(project: Project, state: ListState, entries: Sequence[Entry]) -> list[Row]:
    """The rows of some entries, each with a link that knows the list."""
    threads = Thread.objects.in_bulk([entry.thread for entry in entries])
    turns = load_turns(entries)
    rated = ratings.get_ratings().load(entry.answer for entry in entries)
    rows = []
    for entry in entries:
        asked = [turn for turn in turns[entry.thread] if turn.role == Message.Role.USER]
        answer = next((turn for turn in turns[entry.thread] if turn.pk == entry.answer), None)
        if answer is None or entry.thread not in threads:
            continue  # it was deleted meanwhile
        question = next((turn.beginning for turn in reversed(asked) if turn.pk < entry.answer), "")
        rows.append(
            Row(
                build_thread_url(project, state, threads[entry.thread].thread_id),
                visible(" ".join(question.split())) or "(no text)",
                answer,
                RUNGS.get(answer.rung, ""),
                CALLERS.get(answer.caller, ""),
                len(asked),
                rated.get(entry.answer),
                threads[entry.thread],
            )
        )
    return rows


def _build_chips(
    state: ListState, name: str, labels: dict[str, str], counts: Counter[str] | None = None
) -> list[Choice]:
    """A link for each value of a filter, with its number of answers. Values without answers are left out."""
    chosen = getattr(state, name)
    values = {
        value: f"{label} {counts[value]:,}" if counts is not None else label
        for value, label in labels.items()
        if counts is None or counts[value] or value == chosen
    }
    every = Choice("All", state.link(**{name: ""}), not chosen)
    return [every, *(Choice(label, state.link(**{name: value}), value == chosen) for value, label in values.items())]


def _build_fields(state: ListState, languages: list[str], versions: list[str]) -> list[Field]:
    suggested = {"language": languages, "version": versions}
    own = [criterion for criterion in FILTERS if criterion.name not in ("outcome", "thumb")]
    return [Field(criterion, getattr(state, criterion.name), suggested.get(criterion.name, ())) for criterion in own]


def _list_chosen(state: ListState) -> list[Choice]:
    """The chosen filters, each with the link that removes it."""
    return [
        Choice(f"{label}: {visible((criterion.choices or {}).get(value, value))}", state.link(**{criterion.name: ""}))
        for criterion in FILTERS
        if (value := getattr(state, criterion.name))
        for label in [criterion.label if criterion.name != "path" or state.page_path else "Part of the path"]
    ]
