"""A page's Markdown over HTTP."""

import pytest

from tests.conftest import PAGES, assert_error
from tests.variants import first_of

ORIGIN = "https://docs.acme.example"


def read(http, service, tenant, body, domain=None, prefix="/discovery/v1/page", **headers):
    url = f"{service.url}{prefix}/{domain or tenant.domain}"
    return http.post(url, json=body, headers={**tenant.assistant, **headers})


@pytest.mark.parametrize(
    "path",
    first_of(
        [
            "/guides/labels",
            "guides/labels",
            "/guides/labels/",
            "/guides//labels.md",
            "/guides/labels.html?x=1#label-printers",
            "https://docs.acme.example/guides/labels/index",
            "/guides/l%61bels",
        ],
        3,
    ),
)
def test_a_page_is_found_in_any_spelling(http, service, project, path):
    answer = read(http, service, project, {"path": path})
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"path", "content"}
    assert body["path"] == "/guides/labels"
    assert "acme.labels.printLabel()" in body["content"]
    assert "title: Printing labels" not in body["content"], "no front matter"


def test_the_content_is_what_was_ingested(http, service, project):
    content = read(http, service, project, {"path": "/"}).json()["content"]
    assert content.strip() == PAGES["index"].split("---\n", 2)[2].strip()


def test_discovery_may_be_left_out(http, service, project):
    assert read(http, service, project, {"path": "/install"}, prefix="/v1/page").status_code == 200


@pytest.mark.parametrize("path", ["/nosuch", "/Install", "/../install", "/install/with-pip", "\x01"])
def test_no_such_page_is_404(http, service, make_project, path):
    assert_error(read(http, service, make_project(), {"path": path}), 404)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "path: "),
        ({"path": None}, "path: "),
        ({"path": ""}, "path: "),
        ({"path": 1}, "path: "),
        ({"path": ["/install"]}, "path: "),
        ({"path": "x" * 2001}, "path: "),
    ],
)
def test_a_bad_path_is_named(http, service, project, body, field):
    assert_error(read(http, service, project, body), 400, field)


def test_a_page_needs_the_key_of_its_project(http, service, project, make_project):
    other = make_project()
    body = {"path": "/install"}
    foreign = assert_error(read(http, service, other, body, domain=project.domain), 404)
    assert foreign == assert_error(read(http, service, other, body, domain="nosuch"), 404)
    assert_error(read(http, service, other, body), 404)
    assert_error(read(http, service, project, body, Authorization=""), 401)
    assert_error(read(http, service, project, body, **project.admin), 403)


def test_browsers_of_allowed_origins_may_read(http, service, project):
    answer = read(http, service, project, {"path": "/install"}, Origin=ORIGIN)
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert_error(read(http, service, project, {"path": "/install"}, Origin="https://evil.example"), 403)


@pytest.mark.matrix
def test_pages_and_searches_share_one_limit(http, start, project):
    service = start(LIMIT_SEARCH_ORG="2/d")
    search = f"{service.url}/discovery/v1/search/{project.domain}"
    assert http.post(search, json={"query": "x"}, headers=project.assistant).status_code == 200
    answer = read(http, service, project, {"path": "/install"})
    assert answer.status_code == 200
    assert '"search-org";r=0' in answer.headers["ratelimit"]
    assert_error(read(http, service, project, {"path": "/install"}), 429)
