"""A conversation as its reader saw it, and what lies behind each answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from assistant.admin.conversations.list_state import CALLERS, RUNGS
from assistant.conversations import ratings, transcript
from assistant.conversations.ratings import Rating
from assistant.models import Message
from assistant.spending import cost_report
from assistant.spending.prices import format_money
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.formatting import visible
from search.models import Section

_WEB = ("https://", "http://")


@dataclass(frozen=True)
class Link:
    """A link to a page of the documentation. The address is empty if browsers could run it."""

    title: str
    url: str


@dataclass(frozen=True)
class Passage:
    """A passage that the answer was made from. `section` is the one in today's index, None if there is none."""

    number: int
    path: str
    url: str
    score: float
    section: Section | None
    is_changed: bool
    is_cited: bool

    @property
    def percent(self) -> str:
        """The score as the length of a bar."""
        return f"{min(1.0, max(0.0, self.score)):.1%}"

    @property
    def title(self) -> str:
        """Its page and the headings above it."""
        if self.section is None:
            return self.path
        return " › ".join([self.section.document.title, *self.section.trail])


@dataclass(frozen=True)
class Check:
    """A citation that the model wrote: kept, with the sentence that supports it, or dropped for a reason."""

    written: str
    url: str
    sentence: str
    dropped: str


@dataclass(frozen=True)
class Turn:
    """A message. An answer has its rating and its facts."""

    message: Message
    rating: Rating | None
    passages: Sequence[Passage]

    @property
    def is_answer(self) -> bool:
        """Whether the assistant wrote it."""
        return self.message.role == Message.Role.ASSISTANT

    @property
    def html(self) -> SafeString:
        """The answer as HTML."""
        return transcript.render(self.message.content)

    @property
    def sources(self) -> list[Link]:
        """The cited pages."""
        return [_link(source.get("title", ""), source.get("url", "")) for source in self.message.sources]

    @property
    def checks(self) -> list[Check]:
        """The checked citations."""
        return [
            Check(
                visible(check.get("written", "")),
                _link("", check.get("url", "")).url,
                check.get("sentence", ""),
                check.get("dropped", ""),
            )
            for check in self.message.checks
        ]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The rungs that were tried, each with the reason why the one before was left."""
        return [(RUNGS.get(step.get("rung", ""), "?"), step.get("reason", "")) for step in self.message.steps]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What is known of the answer: labels and values."""
        answer = self.message
        context = [f"{one.get('type')}, {one.get('characters')} characters" for one in answer.context or ()]
        filters = [f"version {answer.filter_version}"] if answer.filter_version else []
        filters += [f"language {answer.filter_language}"] if answer.filter_language else []
        values = {
            "Outcome": answer.get_outcome_display() or "not known",
            "Cut off by": answer.get_cut_by_display() if answer.cut_by else "",
            "Answered by": RUNGS.get(answer.rung, ""),
            "Model": answer.model or "",
            "Chance of an answer": "" if answer.chance is None else f"{answer.chance:.2f}",
            "First words after": _seconds(answer.first_token_ms),
            "Whole answer after": _seconds(answer.total_ms),
            "Tokens": f"{answer.prompt_tokens:,} read, {answer.completion_tokens:,} written"
            if answer.prompt_tokens or answer.completion_tokens
            else "",
            "Cost": _describe_cost(answer),
            "Asked in": CALLERS.get(answer.caller, ""),
            "Agent": answer.agent or "",
            "Page": visible(answer.page_path),
            "Language of the question": answer.language or "",
            "Searched only": ", ".join(visible(value) for value in filters),
            "Sent with the question": "; ".join(visible(selection) for selection in context),
        }
        return [(label, value) for label, value in values.items() if value]


def load_turns(project: Project, messages: Sequence[Message]) -> list[Turn]:
    """The turns of a conversation, with the sections and ratings of its answers. Three queries."""
    answers = [message for message in messages if message.role == Message.Role.ASSISTANT]
    sections = _load_sections(project, {hit.get("path", "") for answer in answers for hit in answer.hits})
    rated = ratings.get_ratings().load(answer.pk for answer in answers)
    return [Turn(message, rated.get(message.pk), _list_passages(project, message, sections)) for message in messages]


def _load_sections(project: Project, paths: set[str]) -> dict[tuple[str, str], Section]:
    sections = Section.objects.filter(
        document__project=project, document__path__in=paths, document__build=""
    ).select_related("document")
    columns = ("trail", "text", "digest", "anchor", "document__path", "document__title", "document__address")
    return {(section.document.path, section.anchor): section for section in sections.only(*columns)}


def _list_passages(project: Project, answer: Message, sections: dict[tuple[str, str], Section]) -> list[Passage]:
    cited = {source.get("url", "") for source in answer.sources}
    checked = {check.get("url", "").partition(":~:")[0].rstrip("#") for check in answer.checks}
    checked_pages = {url.partition("#")[0] for url in checked}
    passages = []
    for number, hit in enumerate(answer.hits, 1):
        path, anchor = hit.get("path", ""), hit.get("anchor", "")
        section = sections.get((path, anchor))
        address = section.document.address if section else ""
        page, url = project.url_of(path, address=address), project.url_of(path, anchor, address)
        is_cited = bool(checked & {url, page}) if page in checked_pages else page in cited
        passages.append(
            Passage(
                *(number, visible(path), _link("", url).url, float(hit.get("score") or 0), section),
                is_changed=bool(section and hit.get("digest") and section.digest != hit["digest"]),
                is_cited=is_cited,
            )
        )
    return passages


def _link(title: str, url: str) -> Link:
    return Link(visible(title or url), url if url.lower().startswith(_WEB) else "")


def _describe_cost(answer: Message) -> str:
    """What an answer has cost; empty if no model was asked."""
    if answer.cost:
        return format_money(answer.cost)
    is_unpriced = answer.cost is None and answer.rung in cost_report.BY_MODEL and answer.total_ms is not None
    return "no price was set" if is_unpriced else ""


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:.2f} s"
