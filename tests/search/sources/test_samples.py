"""What an ingest says about the address of its first page."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from search.sources import registry
from search.sources.request import SourceRequest


@pytest.fixture
def site():
    """A site that has only /guide/, and the paths that were asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_response(200 if self.path.startswith("/right/") else 404)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


def read(tmp_path, docs_url, **options):
    """The lines of progress of a source with four pages."""
    for name in ("mkdocs.yml", *(f"docs/{page}.md" for page in "abcd")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("site_name: A" if name == "mkdocs.yml" else "# Text")
    lines = []
    list(registry.read(SourceRequest(str(tmp_path), docs_url, progress=lines.append, **options)))
    return lines


def test_one_address_is_opened_on_the_site(tmp_path, site):
    base, paths = site
    options = {"opens_sample": True, "private_hosts": (base.removeprefix("http://"),)}
    assert read(tmp_path, f"{base}/right", **options)[1] == f"{base}/right/a/ is on your site"
    wrong = f"{base}/wrong/a/ answers 404. Are the docs URL and the generator right?"
    assert read(tmp_path, f"{base}/wrong", **options)[1] == wrong
    assert paths == ["/right/a/", "/wrong/a/"]


def test_a_site_that_may_not_be_opened_or_does_not_answer_stops_nothing(tmp_path, site):
    base, paths = site
    assert "no public address" in read(tmp_path, base, opens_sample=True)[1]
    assert len(read(tmp_path, base)) == 1
    assert paths == []
