"""The pages for synonyms and promoted pages: all rules as lines of text, checked before they are stored."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from search.admin import lines
from search.models import Document
from search.text import owner_words
from search.text.owner_words import MAX_LINES, MAX_PHRASES, MAX_TEXT, MAX_WORDS

MAX_ERRORS = 20  # shown at once


@dataclass(frozen=True)
class Rules:
    """One of the two kinds of rules. `key` is that of the page and of the column with the lines, `saved` what the page
    says after saving."""

    key: str
    title: str
    example: str
    saved: str
    check: Callable[[str], list[str]]


SYNONYMS = Rules(
    "synonyms",
    "Synonyms",
    "k8s, kubernetes\nsso => single sign-on",
    "Saved. Searches and answers use it within two seconds.",
    owner_words.check_synonyms,
)
PROMOTIONS = Rules(
    "promotions",
    "Promoted pages",
    "install, setup => /install",
    "Saved. Searches use it within two seconds.",
    owner_words.check_promotions,
)


def show_rules(request: HttpRequest, project: Project, rules: Rules) -> HttpResponseBase:
    """The page for one kind of rules."""
    stored = lines.load(project, rules.key)
    text, line, errors = stored, _suggest_line(request), list[str]()
    if request.method == "POST":
        added = lines.clean(request.POST.get("line", "")).strip()
        typed = f"{stored}\n{added}".strip() if added else lines.clean(request.POST.get("lines", ""))
        errors = [*rules.check(typed), *_list_missing(project, rules, typed)]
        if not errors:
            error = lines.save(project, rules.key, typed, None if added else request.POST.get("revision", ""))
            errors = [error] if error else []
        if not errors:
            messages.success(request, rules.saved)
            return HttpResponseRedirect(navigation.page_url(rules.key, project))
        text, line = (stored, added) if added else (typed, line)
    context: dict[str, Any] = {
        "rules": rules,
        "text": text,
        "line": line,
        "revision": lines.get_revision(stored),
        "wrong": errors[:MAX_ERRORS],
        "more_wrong": len(errors[MAX_ERRORS:]),
        "missing": [] if errors else _list_missing(project, rules, stored),
        "limits": {"lines": MAX_LINES, "phrases": MAX_PHRASES, "words": MAX_WORDS, "text": MAX_TEXT},
        "file": navigation.page_url(rules.key, project, name="file"),
    }
    return navigation.render(request, "admin/search/owner_words.html", project, rules.title, context, wrong=errors)


def download(request: HttpRequest, project: Project, rules: Rules) -> HttpResponse:
    """The rules as a text file."""
    headers = {"Content-Disposition": f'attachment; filename="{project.domain}-{rules.key}.txt"'}
    text = lines.load(project, rules.key) + "\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)


def _suggest_line(request: HttpRequest) -> str:
    """The beginning of a new line, with the words of the address."""
    words = " ".join(request.GET.get("words", "").replace(",", " ").replace("=>", " ").split())
    return lines.clean(words)[: owner_words.MAX_CHARACTERS]


def _list_missing(project: Project, rules: Rules, text: str) -> list[str]:
    """A sentence for each promoted page that the project does not have."""
    targets = owner_words.list_targets(text) if rules is PROMOTIONS else {}
    known = set(Document.objects.filter(project=project, path__in=targets).values_list("path", flat=True))
    return [
        f"Line {number}: the project has no page {path}."
        for path, number in targets.items()
        if path.startswith("/") and path not in known
    ]


for _position, _rules in enumerate((SYNONYMS, PROMOTIONS), 64):
    navigation.add_page(
        _rules.key,
        _rules.title,
        group="Content",
        position=_position,
        views=[
            ("", partial(show_rules, rules=_rules), ""),
            (f"{_rules.key}.txt", partial(download, rules=_rules), "file"),
        ],
        reads=Role.VIEWER,
        acts=Role.WRITER,
    )
