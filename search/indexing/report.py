"""What an ingest has read of a source, and what it has lost: a report of its pages as JSON, and as lines for people."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from django.db.models import QuerySet
from django.template.loader import render_to_string

from docsite.core.tenants.models import Project
from search.indexing.build import batches
from search.indexing.outcome import Summary
from search.indexing.storable import clean_text
from search.models import Document, Section
from search.retrieval.links import find_paths
from search.signals import IndexWarning
from search.sources import Page
from search.text.markdown.links import links
from search.text.markdown.plain_text import slug
from search.text.sections import Part

# What `--fail-on` may name, and where the report has its number.
KINDS = {
    "skipped": ("skipped",),
    "left-out": ("leftOut",),
    "code": ("code", "empty"),
    "sections": ("sections", "empty"),
    "configuration": ("problems", "configuration"),
    "front-matter": ("problems", "front matter"),
    "markup": ("problems", "markup"),
    "includes": ("problems", "include"),
    "shortcodes": ("problems", "shortcode"),
    "references": ("problems", "reference"),
    "anchors": ("anchors", "missing"),
}
MAX_EXAMPLES = 3
MAX_LINKS = 200  # to anchors, of one page
MAX_IDS = 500  # of one page, beside those of its headings
FALL = 0.1  # share by which a number may fall before it is a warning
_FIELDS = ("build", "pk", "path", "address", "title", "language", "version", "diagnostics")
_FENCE = re.compile(r"(?m)^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n`]*)$")
_TO_ANCHOR = re.compile(r"\]\([^()\s]{0,1000}#")
_IDS = (  # of elements, and in attribute lists
    re.compile(r"<[a-zA-Z][^<>]{0,300}?\s(?:id|name)\s?=\s?[\"']?([^\s\"'<>]{1,200})"),
    re.compile(r"\{:?\s{0,3}#([\w:.-]{1,200})"),
)
# The part of a reason that differs from page to page.
_VARIABLE = re.compile(r"(?<=taken by ).*|(?<!\S)[^\s/]*+/\S*|\d{4}-\d\d-\d\d|(?<=line )\d+")


def diagnose(page: Page, parts: Sequence[Part]) -> dict[str, Any]:
    """Count the code, sections, links and problems of one page for the report. Zeros and empty lists are left out."""
    blocks, empty = _count_code(page.markdown)
    targets = (
        link.target for part in parts if _TO_ANCHOR.search(part.body) for link in links(part.body) if not link.is_image
    )
    ids = (anchor for pattern in _IDS for anchor in pattern.findall(page.markdown))
    found = {
        "code": blocks,
        "emptyCode": empty,
        "sections": len(parts),
        "emptySections": sum(
            bool(part.heading and not part.body and len(part.trail) >= len(following.trail))
            for part, following in zip(parts, [*parts[1:], Part("", "", (), "", "")], strict=True)
        ),
        "links": list(dict.fromkeys(target for target in targets if "#" in target and "://" not in target))[:MAX_LINKS],
        "ids": list(dict.fromkeys([*page.anchors, *ids]))[:MAX_IDS],
        "problems": [[kind, clean_text(detail)] for kind, detail in page.problems],
    }
    return {name: value for name, value in found.items() if value}


def build(
    project: Project, documents: "QuerySet[Document]", replaced: set[str], summary: Summary, redirects: dict[str, str]
) -> dict[str, Any]:
    """The report of a source. `documents` are its staged pages, and its indexed ones; those `replaced` leave."""
    rows = [(*row[:-1], row[-1] or {}) for row in documents.order_by("path").values_list(*_FIELDS)]
    pages = [row for build_name, *row in rows if build_name or row[1] not in replaced]
    before = [row[-1] for build_name, *row in rows if not build_name]
    found = [(path, diagnostics) for _, path, *_, diagnostics in pages]
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path, diagnostics in found:
        for kind, detail in diagnostics.get("problems", ()):
            kinds[kind][detail if kind == "shortcode" else f"{path}: {detail}"] += 1
    for kind, detail in summary.problems:
        kinds[kind][detail] += 1
    samples = [pages[at] for at in sorted({0, len(pages) // 2, len(pages) - 1})] if pages else []
    return {
        "found": len(pages) + len(summary.skipped) + len(summary.left_out),
        "read": len(pages),
        "before": {kind: sum(counts.get(kind, 0) for counts in before) for kind in ("code", "sections")}
        | {"read": len(before)},
        "leftOut": _group_by_reason(summary.left_out),
        "skipped": _group_by_reason(summary.skipped),
        "code": _sum_up(found, "code", "emptyCode"),
        "sections": _sum_up(found, "sections", "emptySections"),
        "problems": {
            kind: {"count": details.total(), "examples": [one for one, _ in details.most_common(MAX_EXAMPLES)]}
            for kind, details in sorted(kinds.items())
        },
        "languages": dict(Counter(page[4] for page in pages).most_common()),
        "versions": dict(Counter(page[5] for page in pages).most_common()),
        "anchors": _check_anchors(project, pages, redirects),
        "addresses": [project.url_of(path, address=address) for _, path, address, *_ in samples],
    }


def compare(report: dict[str, Any]) -> list[IndexWarning]:
    """A warning for each number that is more than a tenth smaller than in the index that readers see."""
    warnings = []
    for kind, name in (("read", "pages"), ("sections", "sections"), ("code", "code blocks")):
        now, before = _read_count(report, [kind]), report["before"][kind]
        if now < before * (1 - FALL):
            advice = (
                " If you did not remove them, name the folder or address that you named then." if kind == "read" else ""
            )
            sentence = f"The source has {now:,} {name}. It had {before:,} when it was last read.{advice}"
            warnings.append(IndexWarning(sentence))
    return warnings


def find_failures(report: dict[str, Any], kinds: Collection[str]) -> list[IndexWarning]:
    """A warning for each kind of loss that an owner does not accept and the report has."""
    counts = {kind: _read_count(report, KINDS[kind]) for kind in KINDS if kind in kinds}
    return [IndexWarning(f"--fail-on {kind}: {count:,}.") for kind, count in counts.items() if count]


def describe(report: dict[str, Any]) -> list[str]:
    """The report as lines of text. A count of losses that is zero gets no line."""
    counts = {"left_out": _read_count(report, ["leftOut"]), "skipped": _read_count(report, ["skipped"])}
    named = {f"has_{kind}": any(report.get(kind, ())) for kind in ("languages", "versions")}
    text = render_to_string("search/report.txt", {"report": report, **counts, **named})
    return [line for line in text.splitlines() if line.strip()]


def _read_count(report: dict[str, Any], place: Sequence[str]) -> int:
    """Read the count at a place in the report. Groups by reason are added up; a missing value is 0."""
    value: Any = report
    for name in place:
        value = value.get(name, 0) if isinstance(value, dict) else 0
    if isinstance(value, list):
        return sum(group["count"] for group in value)
    return int(value["count"] if isinstance(value, dict) else value)


def _count_code(markdown: str) -> tuple[int, int]:
    """How many fences a page has, and how many of them hold nothing."""
    blocks = empty = 0
    opening: re.Match[str] | None = None
    for mark in _FENCE.finditer(markdown):
        if opening is None:
            opening = mark
        elif mark[1].startswith(opening[1]) and not mark[2].strip():
            blocks += 1
            empty += not markdown[opening.end() : mark.start()].strip("> \t\n")
            opening = None
    return blocks, empty


def _count(examples: Sequence[str]) -> dict[str, Any]:
    return {"count": len(examples), "examples": list(examples[:MAX_EXAMPLES])}


def _sum_up(pages: Iterable[tuple[str, dict[str, Any]]], name: str, empty: str) -> dict[str, Any]:
    rows = [(path, diagnostics.get(name, 0), diagnostics.get(empty, 0)) for path, diagnostics in pages]
    examples = [path for path, _, lost in rows if lost]
    return {
        "count": sum(count for _, count, _ in rows),
        "empty": sum(lost for *_, lost in rows),
        "examples": examples[:MAX_EXAMPLES],
    }


def _group_by_reason(items: Iterable[Any]) -> list[dict[str, Any]]:
    """Files by the reason why they were left out or skipped, the most frequent first."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        groups[_VARIABLE.sub("…", item.reason)].append(item.origin)
    found = [{"reason": reason, **_count(origins)} for reason, origins in groups.items()]
    return sorted(found, key=lambda group: -group["count"])


def _check_anchors(project: Project, pages: Sequence[Sequence[Any]], redirects: dict[str, str]) -> dict[str, Any]:
    """How many relative links lead to an anchor of a page of the source, and those whose page has no such anchor."""
    known = {page[1]: page for page in pages}
    wanted: list[tuple[str, str, str]] = []  # a page, the page that it links to, and the anchor
    for page in pages:
        for target in page[6].get("links", ()):
            place, _, anchor = target.partition("#")
            found = find_paths(project, page[1], place or "#")
            paths = (path if path in known else redirects.get(path, path) for path in found)
            if anchor and (path := next((path for path in paths if path in known), "")):
                wanted.append((page[1], path, unquote(anchor)))
    anchors: defaultdict[str, set[str]] = defaultdict(set)
    targets = {known[path][0]: path for _, path, _ in wanted}
    for path in targets.values():
        anchors[path] = {slug(known[path][3]), *known[path][6].get("ids", ())}
    for ids in batches(list(targets)):
        for pk, anchor in Section.objects.filter(document__in=ids).values_list("document", "anchor"):
            anchors[targets[pk]].add(anchor)
    missing = [f"{page} to {path}#{anchor}" for page, path, anchor in wanted if anchor not in anchors[path]]
    return {"count": len(wanted), "missing": len(missing), "examples": missing[:MAX_EXAMPLES]}
