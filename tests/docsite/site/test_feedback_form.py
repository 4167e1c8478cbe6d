"""“Was this page helpful?” without JavaScript: what the form stores, whom it refuses, and how."""

import re

import pytest

from tests.variants import first_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(start, django_db_setup):
    """The service with documentation of its own, where an address may send eight forms a day."""
    from docsite.core.tenants.management.commands.createproject import create_project

    project, key, _ = create_project("feedback-form", "Feedback form", "https://docs.example.com", [])
    service = start(SITE_DOMAIN="feedback-form", SITE_ASSISTANT_KEY=key, LIMIT_FEEDBACK_IP="8/d")
    service.project = project
    return service


@pytest.fixture
def send(http, site):
    """Send the form as a browser does from a page of the site."""

    def post(headers=None, **fields):
        return http.post(f"{site.url}/feedback", data=fields, headers=headers or {"Origin": site.url})

    return post


@pytest.mark.matrix
def test_a_thumb_is_stored_changed_and_limited(http, site, send):
    html = http.get(f"{site.url}/quickstart").text
    assert '<form class="feedback" action="/feedback" method="post"' in html
    assert '<input type="hidden" name="path" value="/quickstart">' in html
    answer = send(path="/quickstart", helpful="no")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "Hard to follow" in answer.text
    assert "Easy to follow" not in answer.text
    fields = {"path": "/quickstart", "id": re.search(r'name="id" value="(\w{32})"', answer.text)[1]}
    hostile = "<script>alert(1)</script>"
    assert send(**fields, helpful="no", comment=hostile, contact="me@acme.example").status_code == 200
    (row,) = site.project.feedback.all()
    assert (row.source, row.path, row.helpful, row.comment) == ("contextual", "/quickstart", False, hostile)
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"X": "y"},
    ):
        refused = send(headers, **fields)
        assert refused.status_code == 403
        assert "This form is accepted from the pages of this site only." in refused.text
    long = send(path="/quickstart", helpful="yes", comment="x" * 4001)
    assert (long.status_code, "The comment is too long or missing." in long.text) == (400, True)
    assert send(path="/quickstart", comment="x" * 140_000).status_code == 413
    away = send(path="https://evil.example//evil.example/x", helpful="yes")
    assert '<a href="/">Back to the page</a>' in away.text, "only pages of ours are linked to"
    assert '<a href="/quickstart">Back to the page</a>' in answer.text
    assert "Taken back" in send(**fields).text
    assert [row.path for row in site.project.feedback.all()] == ["/evil.example/x"]
    limited = [send(path="/quickstart", helpful="yes") for _ in range(5)][-1]
    assert limited.status_code == 429
    assert int(limited.headers["retry-after"]) > 0
    assert "Too many requests. Try again in" in limited.text
    assert http.get(f"{site.url}/feedback").headers["location"] == "/"


@pytest.mark.parametrize(
    ("headers", "fields", "status", "says"),
    first_of(
        [
            ({"Origin": "https://evil.example"}, {}, 403, "nur von den Seiten dieser Site"),
            (None, {"comment": "x" * 6000}, 400, "Es fehlt etwas, oder es ist zu lang."),
        ],
        1,
    ),
)
def test_german_pages_refuse_in_german(http, site, headers, fields, status, says):
    page = http.get(f"{site.url}/de/quickstart").text
    assert '<form class="feedback" action="/feedback?language=de" method="post"' in page
    refused = http.post(
        f"{site.url}/feedback?language=de",
        data={"path": "/de/quickstart", "helpful": "no", **fields},
        headers=headers or {"Origin": site.url},
    )
    assert refused.status_code == status
    assert '<html lang="de">' in refused.text
    assert says in refused.text
