"""The files of the widget: an alias that follows the build, and addresses that always serve the same bytes."""

import base64
import hashlib
import re
import shutil
import sqlite3

import pytest
from django.conf import settings

from assistant.models import WidgetFile
from assistant.widget import files
from docsite.core.http import scripts
from tests.conftest import assert_error, logged_in

pytestmark = pytest.mark.slow

NAMES = (
    *("widget.js", "panel.js", "markdown.js", "highlight.js", "citation-card.js", "menu.js", "person-form.js"),
    *("search.js", "search-dialog.js", "deflect.js"),
)
FOREVER = "public, max-age=31536000, immutable"


def version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@pytest.fixture
def build():
    """What is built, by name."""
    return {name: (settings.WIDGET_DIST / name).read_bytes() for name in NAMES}


@pytest.fixture
def upgraded(start, tmp_path):
    """Another build, and a service that has it and the same database."""
    dist = tmp_path / "widget" / "dist"
    shutil.copytree(settings.WIDGET_DIST, dist)
    for name in NAMES:
        (dist / name).write_bytes(b"// later\n" + (dist / name).read_bytes())
    return start(DJANGO_SETTINGS_MODULE="tests.assistant.widget.other_build", OTHER_BUILD=str(dist))


def get(http, service, path, **headers):
    fresh = {"Origin": "https://anywhere.example", "Accept-Encoding": "identity"}
    return http.get(f"{service.url}{path}", headers={**fresh, **headers})


@pytest.mark.parametrize("name", NAMES)
def test_an_address_with_a_version_always_serves_the_same_file(http, service, build, name):
    address = f"/widget/{version(build[name])}/{name}"
    answer = get(http, service, address)
    assert (answer.status_code, answer.content) == (200, build[name])
    assert answer.headers["cache-control"] == FOREVER
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    again = get(http, service, address, **{"If-None-Match": f"W/{answer.headers['etag']}"})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == FOREVER
    assert "content-length" not in again.headers
    plain = http.head(f"{service.url}{address}", headers={"Accept-Encoding": "identity"})
    assert plain.headers["content-length"] == str(len(build[name]))


def test_files_are_compressed_for_clients_that_accept_gzip(http, service, build):
    packed = get(http, service, "/widget.js", **{"Accept-Encoding": "br;q=1.0, GZIP;q=0.8"})
    assert (packed.headers["content-encoding"], packed.content) == (
        "gzip",
        build["widget.js"],
    )  # unpacked by the client
    assert int(packed.headers["content-length"]) < len(build["widget.js"]) / 2
    for refusing in ("identity", "br", "gzip;q=0"):
        plain = get(http, service, "/widget.js", **{"Accept-Encoding": refusing})
        assert "content-encoding" not in plain.headers
        assert plain.headers["vary"] == "Accept-Encoding"
        assert plain.headers["etag"] != packed.headers["etag"]


def test_the_loaders_alias_follows_the_build_and_is_cached_for_five_minutes(http, service, upgraded, build):
    here, there = get(http, service, "/widget.js"), get(http, upgraded, "/widget.js")
    assert here.content == build["widget.js"]
    assert there.content == b"// later\n" + build["widget.js"]
    assert here.headers["etag"] != there.headers["etag"]
    for answer in (here, there):
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.matrix
def test_old_files_are_served_after_an_upgrade_and_by_other_hosts(http, start, upgraded, build):
    WidgetFile.objects.all().delete()
    service = start.fresh()
    get(http, service, "/widget.js")
    get(http, upgraded, "/widget.js")
    for name, content in build.items():
        for served in (content, b"// later\n" + content):
            for server in (service, upgraded):
                answer = get(http, server, f"/widget/{version(served)}/{name}")
                assert (answer.status_code, answer.content) == (200, served)
                assert answer.headers["cache-control"] == FOREVER
                assert answer.headers["etag"]


@pytest.mark.parametrize(
    "path",
    [
        "/widget/0123456789ab/widget.js",
        "/widget/0123456789ab/panel.js",
        "/widget/0123456789AB/widget.js",
        "/widget/{loader}/panel.js",
        "/widget/{loader}/views.js",
        "/widget/{loader}/../widget.js",
        "/widget/{loader}x/widget.js",
        "/widget/{loader}/widget.js%0A",
        "/widget/{loader}/",
        "/widget/panel.js",
    ],
)
def test_any_other_address_is_404_and_leaves_nothing_behind(http, service, build, path):
    get(http, service, "/widget.js")
    before = WidgetFile.objects.count()
    assert_error(get(http, service, path.format(loader=version(build["widget.js"]))), 404)
    assert WidgetFile.objects.count() == before


def test_the_declarations_are_text_for_every_origin(http, service):
    answer = get(http, service, "/widget.d.ts")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.content == (settings.WIDGET_DIST.parent / "widget.d.ts").read_bytes()


def test_the_keys_page_shows_both_tags_and_stores_the_build(http, service, build, make_project):
    WidgetFile.objects.all().delete()
    for known in (scripts.load_script, files._store_build):  # as in a process that has just begun
        known.cache_clear()
    tenant = make_project()
    client = logged_in(f"owner-{tenant.project.pk}", tenant.project.organization)
    shown = client.get(f"/admin/projects/project/of/{tenant.domain}").content.decode()
    loader = build["widget.js"]
    integrity = "sha384-" + base64.b64encode(hashlib.sha384(loader).digest()).decode()
    assert re.search(r'src="http://testserver/widget\.js" data-domain', shown.replace("&quot;", '"'))
    assert f"http://testserver/widget/{version(loader)}/widget.js" in shown
    assert f'integrity="{integrity}" crossorigin="anonymous"' in shown.replace("&quot;", '"')
    assert sorted(WidgetFile.objects.values_list("name", flat=True)) == sorted(NAMES)


def test_the_widget_is_served_while_the_database_is_down(http, start, copy_database, tmp_path, build):
    there = copy_database(tmp_path)
    with sqlite3.connect(tmp_path / "db.sqlite3") as database:
        database.execute("DROP TABLE assistant_widgetfile")
    without = start(**there)
    for path in ("/widget.js", f"/widget/{version(build['widget.js'])}/widget.js"):
        assert get(http, without, path).content == build["widget.js"]
    assert "could not be stored" in without.log.read_text()
