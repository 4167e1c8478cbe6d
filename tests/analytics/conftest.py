"""Views in over HTTP, and both reports out."""

import uuid
from datetime import UTC, datetime

import pytest

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
CHATGPT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
GPTBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
CURL = "curl/8.5.0"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
NOTHING = {"human": 0, "ai": 0, "total": 0}


def view(path="/", at=NOON, ip="198.51.100.1", agent=CHROME, **more):
    """A view as a server reports it."""
    return {
        "id": uuid.uuid4().hex,
        "path": path,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "ip": ip,
        "userAgent": agent,
        **more,
    }


@pytest.fixture
def collect(http, service, make_project):
    """A tenant, and a way to send views of it."""
    tenant = make_project()

    def send(*views, status=200, to=service):
        url = f"{to.url}/v1/collect/{tenant.project_id}/views"
        response = http.post(url, json={"views": list(views)}, headers=tenant.admin)
        assert response.status_code == status, response.text
        return response

    send.tenant = tenant
    return send


@pytest.fixture
def read(http, service, collect):
    """Both exports of that tenant."""

    def ask(report, *, of=service, headers=None, **params):
        params = {"dateFrom": "2026-03-01", "dateTo": "2026-04-01", **params}
        url = f"{of.url}/v1/analytics/{collect.tenant.project_id}/{report}"
        params = {name: value for name, value in params.items() if value is not None}
        return http.get(url, params=params, headers=headers or collect.tenant.admin)

    return ask


@pytest.fixture
def visitors(read):
    """The export of visitors."""
    return lambda **params: read("visitors", **params)


@pytest.fixture
def views(read):
    """The export of views."""
    return lambda **params: read("views", **params)


@pytest.fixture(params=["visitors", "views"])
def report(request):
    """The name of either report."""
    return request.param
