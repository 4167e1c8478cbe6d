"""Starter questions from the headings of a project's pages, for owners who wrote none."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from django.db.models import Q

from assistant.answering.passage_search import find
from assistant.answering.question import Question
from assistant.models.settings import MAX_STARTERS
from docsite.core.access.readers import Groups
from docsite.core.postgresql import primary
from docsite.core.tenants.models import Project
from search.models import Document, Generation, Section, is_visible
from search.retrieval.answerability import MIN_CHANCE
from search.retrieval.index_state import find_reader_groups

MAX_HEADINGS = 200  # that are looked at
MAX_TRIALS = 8  # questions that are searched for
MIN_LENGTH, MAX_LENGTH = 12, 80  # characters
_QUESTION_MARKS = ("?", "？", "؟")
_ACTIONS = {  # the first word of an English title, and the verb of its question; the most common question first
    **dict.fromkeys(("install", "installing"), "install"),
    **dict.fromkeys(("configure", "configuring"), "configure"),
    **dict.fromkeys(("create", "creating"), "create"),
    **dict.fromkeys(("add", "adding"), "add"),
    **dict.fromkeys(("use", "using"), "use"),
    **dict.fromkeys(("deploy", "deploying"), "deploy"),
    **dict.fromkeys(("connect", "connecting"), "connect"),
    **dict.fromkeys(("run", "running"), "run"),
    **dict.fromkeys(("build", "building"), "build"),
    **dict.fromkeys(("write", "writing"), "write"),
    **dict.fromkeys(("print", "printing"), "print"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("customize", "customizing"), "customize"),
    **dict.fromkeys(("manage", "managing"), "manage"),
    **dict.fromkeys(("import", "importing"), "import"),
    **dict.fromkeys(("export", "exporting"), "export"),
    **dict.fromkeys(("upgrade", "upgrading"), "upgrade"),
    **dict.fromkeys(("migrate", "migrating"), "migrate"),
}
_RANKS = {verb: rank for rank, verb in enumerate(dict.fromkeys(_ACTIONS.values()))}
_NOUNS = {"test", "use", "run", "build", "print", "import", "export"}  # too: “Use Cases”, “Test Client”
_NAME = re.compile(r"[A-Za-z][a-z]*")


def propose(project: Project) -> list[str]:
    """Up to three questions that the pages answer, each of another page; often fewer, and none without pages."""
    generation = Generation.objects.filter(project=project).values_list("number", flat=True).first()
    return list(_propose(project, generation, find_reader_groups(project))) if generation else []


@lru_cache(maxsize=256)
def _propose(project: Project, generation: int, groups: Groups) -> tuple[str, ...]:
    """The questions for one state of the index and its present reader. Each is searched for, which takes some time."""
    chosen: dict[int, str] = {}
    candidates = [*_find_questions(project), *_find_actions(project)]
    for page, text in candidates[:MAX_TRIALS]:
        if len(chosen) == MAX_STARTERS:
            break
        if page not in chosen and text not in chosen.values() and find(project, Question(text)).chance >= MIN_CHANCE:
            chosen[page] = text
    return tuple(chosen.values())


primary.forget_with(_propose.cache_clear)


def _find_questions(project: Project) -> Iterator[tuple[int, str]]:
    """Headings that are questions, the first of each page, with the page."""
    ends = Q()
    for mark in _QUESTION_MARKS:
        ends |= Q(heading__endswith=mark)
    rows = Section.objects.filter(ends, is_visible("document__"), document__project=project)
    rows = rows.order_by("document", "position")
    yield from _first_of_each_page(rows.values_list("document", "heading")[:MAX_HEADINGS])


def _find_actions(project: Project) -> Iterator[tuple[int, str]]:
    """Titles of English pages that begin with a verb, as questions; those that most readers ask first."""
    pages = Document.objects.filter(Q(language="") | Q(language__istartswith="en"), project=project)
    ranked = []
    for page, title in pages.order_by("pk").values_list("pk", "title")[:MAX_HEADINGS]:
        first, _, rest = title.partition(" ")
        verb = _ACTIONS.get(first.lower()) if _NAME.fullmatch(first) else None
        if verb and rest and not (verb == first.lower() in _NOUNS and rest[0].isupper()):
            ranked.append((_RANKS[verb], page, f"How do I {verb} {rest.rstrip('.!')}?"))
    yield from _first_of_each_page((page, text) for _, page, text in sorted(ranked))


def _first_of_each_page(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    pages: set[int] = set()
    for page, text in rows:
        if page not in pages and MIN_LENGTH <= len(text) <= MAX_LENGTH:
            pages.add(page)
            yield page, text
