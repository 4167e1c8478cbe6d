"""The pages for synonyms and promoted pages: all rules as lines of text, checked before they are stored."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from search.models import Document, SearchSettings
from search.text import synonyms
from search.text.synonyms import MAX_LINES, MAX_PHRASES, MAX_TEXT, MAX_WORDS

MAX_ERRORS = 20  # shown at once


@dataclass(frozen=True)
class Rules:
    """One of the two kinds of rules. `key` is that of the page, `field` the column with the lines, `saved` what the
    page says after saving."""

    key: str
    field: str
    title: str
    example: str
    saved: str
    check: Callable[[Project, str], list[str]]


def check_promotions(project: Project, text: str) -> list[str]:
    """A sentence for each wrong line, also where the project has no such page."""
    return [*synonyms.check_promotions(text), *_list_missing(project, text)]


SYNONYMS = Rules(
    "synonyms",
    "synonyms",
    "Synonyms",
    "k8s, kubernetes\nsso => single sign-on",
    "Saved. Searches and answers use it within two seconds.",
    lambda project, text: synonyms.check_synonyms(text),
)
PROMOTIONS = Rules(
    "promotions",
    "promotions",
    "Promoted pages",
    "install, setup => /install",
    "Saved. Searches use it within two seconds.",
    check_promotions,
)


def show_synonyms(request: HttpRequest, project: Project) -> HttpResponseBase:
    """The page for synonyms."""
    return _show_rules(request, project, SYNONYMS)


def show_promotions(request: HttpRequest, project: Project) -> HttpResponseBase:
    """The page for promoted pages."""
    return _show_rules(request, project, PROMOTIONS)


def download_synonyms(request: HttpRequest, project: Project) -> HttpResponse:
    """The synonyms as a text file."""
    return _download(project, SYNONYMS)


def download_promotions(request: HttpRequest, project: Project) -> HttpResponse:
    """The promoted pages as a text file."""
    return _download(project, PROMOTIONS)


def _show_rules(request: HttpRequest, project: Project, rules: Rules) -> HttpResponseBase:
    stored = _load(project, rules)
    text, line, errors = stored, _suggest_line(request), list[str]()
    if request.method == "POST":
        added = _clean(request.POST.get("line", "")).strip()
        typed = f"{stored}\n{added}".strip() if added else _clean(request.POST.get("lines", ""))
        errors = _save(project, rules, typed, None if added else request.POST.get("revision", ""))
        if not errors:
            messages.success(request, rules.saved)
            return HttpResponseRedirect(navigation.page_url(rules.key, project))
        text, line = (stored, added) if added else (typed, line)
    context: dict[str, Any] = {
        "rules": rules,
        "text": text,
        "line": line,
        "revision": _revision(stored),
        "wrong": errors[:MAX_ERRORS],
        "more_wrong": len(errors[MAX_ERRORS:]),
        "missing": _list_missing(project, stored) if rules is PROMOTIONS and not errors else [],
        "limits": {"lines": MAX_LINES, "phrases": MAX_PHRASES, "words": MAX_WORDS, "text": MAX_TEXT},
        "file": navigation.page_url(rules.key, project, name="file"),
    }
    status = 400 if errors else 200
    return navigation.render(request, "admin/search/owner_words.html", project, rules.title, context, status=status)


def _save(project: Project, rules: Rules, text: str, revision: str | None) -> list[str]:
    """Store the lines, if they are right and nobody has changed them since `revision`. Returns what is wrong."""
    if errors := rules.check(project, text):
        return errors
    with transaction.atomic():
        SearchSettings.objects.get_or_create(project_id=project.pk)
        row = SearchSettings.objects.select_for_update().get(project_id=project.pk)
        if revision is not None and revision != _revision(getattr(row, rules.field)):
            return ["Somebody else has changed these lines meanwhile. Copy yours, load the page again, and add them."]
        setattr(row, rules.field, text)
        row.save(update_fields=[rules.field])
    return []


def _suggest_line(request: HttpRequest) -> str:
    """The beginning of a new line, with the words of the address."""
    words = " ".join(request.GET.get("words", "").replace(",", " ").replace("=>", " ").split())
    return _clean(words)[: synonyms.MAX_CHARACTERS]


def _list_missing(project: Project, text: str) -> list[str]:
    """A sentence for each promoted page that the project does not have."""
    targets = synonyms.list_targets(text)
    known = set(Document.objects.filter(project=project, path__in=targets).values_list("path", flat=True))
    return [
        f"Line {number}: the project has no page {path}."
        for path, number in targets.items()
        if path.startswith("/") and path not in known
    ]


def _load(project: Project, rules: Rules) -> str:
    return str(SearchSettings.objects.filter(project=project).values_list(rules.field, flat=True).first() or "")


def _download(project: Project, rules: Rules) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{project.domain}-{rules.key}.txt"'}
    return HttpResponse(_load(project, rules) + "\n", content_type="text/plain; charset=utf-8", headers=headers)


def _clean(text: str) -> str:
    """Typed text with one kind of line end, and without what databases refuse."""
    return "\n".join(line.rstrip() for line in text.replace("\0", "").splitlines()).strip("\n")


def _revision(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


for _rules, _position, _show, _file in (
    (SYNONYMS, 64, show_synonyms, download_synonyms),
    (PROMOTIONS, 65, show_promotions, download_promotions),
):
    navigation.add_page(
        _rules.key,
        _rules.title,
        group="Content",
        position=_position,
        views=[("", _show, ""), (f"{_rules.key}.txt", _file, "file")],
        reads=Role.VIEWER,
        acts=Role.WRITER,
    )
