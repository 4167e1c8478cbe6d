"""The questions and searches of the last months in their groups, as everybody may see them."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max
from django.utils import timezone

from assistant.improving.gaps import report
from assistant.improving.question_groups import wording
from assistant.models import GroupedQuestion, Message, QuestionGroup
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project
from search.models import Document, SearchQuery

DAYS = 90
MAX_GROUPS = 2_000  # the newest ones
MAX_TEXT = 200  # characters of a question that are shown
MIN_READERS = 3  # who must have asked a question before its words are quoted outside the admin, or kept for good


@dataclass
class Asked:
    """Questions of one meaning. `text` is the latest wording, and `opened` the page that most readers opened.

    Searches are in the group of questions with the same words; `is_search` if nobody asked them of the assistant.
    `newest` is the id of the grouped question, or of the search, that has the text. `readers` are the different ones
    who asked the assistant: callers without an id count as one, and nobody knows who searched.
    """

    text: str
    times: int
    latest: datetime
    newest: int
    group: int | None = None
    opened: str = ""
    is_search: bool = False
    readers: int = 0

    @property
    def is_quotable(self) -> bool:
        """Whether so many readers asked it that its words tell of none of them."""
        return self.readers >= MIN_READERS

    @property
    def shown(self) -> str:
        """The text as it may be shown: one line, without personal data."""
        return show(self.text)


def show(text: str) -> str:
    """A reader's text as it may be shown."""
    return redact(" ".join(text.split()))[:MAX_TEXT]


@dataclass
class _Search:
    """A search, whatever its upper and lower case."""

    newest: int  # id of its latest row
    times: int
    latest: datetime
    opened: str


def find_asked(project: Project) -> list[Asked]:
    """The groups of the last `DAYS` days, newest first. What readers of protected pages asked is not in it."""
    since = timezone.now() - timedelta(days=DAYS)
    found = {asked.group: asked for asked in _find_questions(project, since) if asked.group}
    searches = _find_searches(project, since)
    places = _find_groups(project, list(searches))
    texts = dict(SearchQuery.objects.filter(pk__in=[one.newest for one in searches.values()]).values_list("pk", "text"))
    alone: dict[str, Asked] = {}
    for folded, search in searches.items():
        if asked := found.get(places.get(folded, 0)):
            asked.times += search.times
            asked.latest = max(asked.latest, search.latest)
            asked.opened = asked.opened or search.opened
            continue
        key = wording.digest(wording.terms_of(folded))
        if key in alone:  # the same words in another order
            alone[key].times += search.times
            alone[key].opened = alone[key].opened or search.opened
        else:
            text = texts.get(search.newest, folded)
            alone[key] = Asked(
                text, search.times, search.latest, search.newest, places.get(folded), search.opened, is_search=True
            )
    newest = sorted([*found.values(), *alone.values()], key=lambda asked: asked.latest, reverse=True)
    return newest[:MAX_GROUPS]


def _find_questions(project: Project, since: datetime) -> list[Asked]:
    """The groups of questions to the assistant. A conversation that saw protected pages is left out."""
    rows = GroupedQuestion.objects.filter(
        project=project, at__gte=since, group__isnull=False, answer__isnull=False, question__thread__groups=""
    ).exclude(outcome__in=("", Message.Outcome.RUNNING))
    readers = Count("question__thread__fp", distinct=True)
    counted = (
        rows.order_by()
        .values_list("group")
        .annotate(times=Count("pk"), latest=Max("at"), newest=Max("pk"), readers=readers)
    )
    groups = list(counted.order_by("-latest")[:MAX_GROUPS])
    texts = report.load_rows([newest for *_, newest, _ in groups])
    return [
        Asked(texts[newest].text, times, latest, newest, group, readers=readers)
        for group, times, latest, newest, readers in groups
        if newest in texts and texts[newest].text
    ]


def _find_searches(project: Project, since: datetime) -> dict[str, _Search]:
    """The latest searches by their folded text, with the page that was opened most often.

    Nobody knows who searched. So where pages are protected, only searches that led to a public page count.
    """
    rows = SearchQuery.objects.filter(project=project, at__gte=since, result_count__isnull=False).order_by()
    protected = Document.indexed.filter(project=project).exclude(groups="")
    if protected.exists():
        rows = rows.exclude(clicked_path="").exclude(clicked_path__in=protected.values("path"))
    counted = rows.values_list("folded").annotate(times=Count("pk"), latest=Max("at"), newest=Max("pk"))
    clicks = rows.exclude(clicked_path="").values_list("folded", "clicked_path").annotate(times=Count("pk"))
    opened: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for folded, path, times in clicks:
        opened[folded].append((times, path))
    return {
        folded: _Search(newest, times, latest, max(opened[folded])[1] if folded in opened else "")
        for folded, times, latest, newest in counted.order_by("-latest")[:MAX_GROUPS]
    }


def _find_groups(project: Project, folded: list[str]) -> dict[str, int]:
    """The groups of searches: where one of them was grouped, else the group with the same words."""
    keys = {text: wording.digest(wording.terms_of(text)) for text in folded}
    groups = QuestionGroup.objects.filter(project=project, key__in=set(keys.values()))
    by_key = dict(groups.values_list("key", "pk"))
    rows = GroupedQuestion.objects.filter(project=project, search__folded__in=folded, group__isnull=False)
    grouped = rows.order_by("pk").values_list("search__folded", "group")
    same = {text: by_key[key] for text, key in keys.items() if key in by_key}
    return {**same, **{text: pk for text, pk in grouped if text and pk}}
