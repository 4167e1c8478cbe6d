"""Annotations of the visitors report: notes of the owner, and replacements of the index."""

import re
from datetime import timedelta

import pytest

from analytics.collecting import recording
from analytics.models import Annotation
from analytics.reports import annotations
from docsite.core.workspace.reports.formatting import visible
from search.indexing.ingest import ingest
from search.sources.markdown.folder import read_folder
from tests.analytics.conftest import NOON
from tests.analytics.reports.test_report_page import MARCH, rows_of, seen
from tests.variants import first_of


@pytest.fixture
def report(project):
    """The report of a project with a view in March."""
    recording.record(project.project, [seen("/a")])
    return f"/admin/analytics/pageview/visitors/{project.domain}"


def marks(page):
    return [row[-1] for row in rows_of(page, "series") if row[-1]]


@pytest.mark.slow
def test_a_note_stands_at_its_day_until_it_is_deleted(people, project, report):
    note = {"at": "2026-03-10T09:30Z", "text": "Release  2.0 <b>\u202e", "back": f"?{MARCH}"}
    answer = people.owner.post(f"{report}/annotations", note)
    assert answer["Location"] == f"{report}?{MARCH}#over-time"
    page = people.teammate.get(f"{report}?{MARCH}").content.decode()
    sentence = "Release 2.0 &lt;b&gt;[U+202E]"
    assert marks(page) == [sentence]
    assert f"1 unique. {sentence} </span>" in re.sub(r"\s+", " ", page), "where the keyboard reads a bar"
    assert page.count('class="mark" x1') == 2, "the legend and the day"
    number = Annotation.objects.get(project=project.project, kind="note").pk
    assert people.stranger.post(f"{report}/annotations", {"delete": number}).status_code == 404
    assert people.stranger.post(f"{report}/annotations", note).status_code == 404
    people.teammate.post(f"{report}/annotations", {"delete": number, "back": "https://evil.example/"})
    assert 'class="mark"' not in people.owner.get(f"{report}?{MARCH}").content.decode()


@pytest.mark.parametrize(
    ("at", "text", "says"),
    first_of(
        [
            ("tomorrow", "x", "Write a day such as"),
            ("2026-03-10", "  ", "1 to 200"),
            ("2026-03-10", "x" * 201, "1 to 200"),
        ],
        1,
    ),
)
def test_a_bad_note_is_refused_with_a_sentence(people, report, at, text, says):
    answer = people.owner.post(f"{report}/annotations", {"at": at, "text": text}, follow=True)
    assert says in answer.content.decode()
    assert people.owner.get(f"{report}/annotations").status_code == 405


def test_a_replaced_index_marks_its_day_once(people, project, report, acme_docs):
    (acme_docs / "new.md").write_text("# New\n\nA new page.\n")
    ingest(project.project, read_folder(acme_docs))
    found = list(Annotation.objects.filter(project=project.project, kind="index"))
    assert len(found) == 2
    for row in found:
        row.at = NOON
        row.save()
    (mark,) = annotations.list_marks(project.project, NOON - timedelta(days=1), NOON + timedelta(days=1))
    assert (mark.text, mark.note) == ("Index replaced 2 times", None)
    assert marks(people.owner.get(f"{report}?{MARCH}").content.decode()) == ["Index replaced 2 times"]
    assert visible(str(found[0])) == "Index replaced"


def test_the_api_lists_the_notes_and_the_index_of_a_range(people, project, report, http, service):
    """By time. What is outside the range is not in it."""
    note = {"at": "2026-03-02", "text": "Release 2", "next": ""}
    assert people.owner.post(f"{report}/annotations", note).status_code == 302
    address = f"{service.url}/v1/analytics/{project.project_id}/annotations"
    march = http.get(address, params={"dateFrom": "2026-03-01", "dateTo": "2026-04-01"}, headers=project.admin)
    assert march.json() == {"annotations": [{"at": "2026-03-02T00:00:00Z", "kind": "note", "text": "Release 2"}]}
    now = http.get(address, headers=project.admin).json()["annotations"]
    assert [(row["kind"], row["text"]) for row in now] == [("index", "Index replaced")]
