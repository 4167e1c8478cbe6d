"""Access logs in: formats, which lines are views, and that no line counts twice however it comes."""

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analytics.collecting import recording, verification
from analytics.counting import sealer, sweeper
from analytics.models import LogImport, PageView, Seal
from docsite.extras.access_logs import files, importing
from docsite.extras.access_logs.compression import DamagedLog
from docsite.extras.access_logs.files import LogFile
from docsite.extras.access_logs.formats import parse_line, parse_time
from docsite.extras.access_logs.importing import UnreadableLog, create_parser, import_log
from docsite.extras.access_logs.lines import MAX_LINE_BYTES, SkipReason, ViewParser
from docsite.extras.access_logs.management.commands import importlog
from tests import scenarios
from tests.analytics.conftest import CHATGPT, CHROME
from tests.analytics.counting.crashes import Crash
from tests.analytics.counting.history import Seen, history
from tests.analytics.counting.test_counting import check
from tests.conftest import PATIENCE, ROOT, set_analytics, visitor_secret, wait_for
from tests.variants import first_of

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DOCS = "https://docs.acme.example"


def combined(path="/install", at=NOON, ip="198.51.100.1", agent=CHROME, status=200, method="GET", referrer="-"):
    """A line of nginx's or Apache's combined format."""
    time = at.strftime("%d/%b/%Y:%H:%M:%S %z")
    return f'{ip} - - [{time}] "{method} {path} HTTP/1.1" {status} 512 "{referrer}" "{agent}"\n'


def line_of(seen: Seen) -> str:
    """The line that a server writes of a view."""
    view = seen.observation
    return combined(view.raw_path, view.at, str(view.address), view.user_agent)


def made(seed: int, size: int) -> list[Seen]:
    """Views of some days, in whole seconds and in order, some of them equal."""
    dice = random.Random(seed)
    views = history(dice, size, 9, datetime.now(UTC) - timedelta(hours=1))
    whole = [seen.observation._replace(at=seen.at.replace(microsecond=0)) for seen in views]
    views = [Seen(observation, seen.kind, seen.who) for observation, seen in zip(whole, views, strict=True)]
    for place in sorted(dice.sample(range(size), size // 10), reverse=True):
        twin = views[place].observation._replace(view_id=f"twin-{place}")
        views.insert(place, Seen(twin, views[place].kind, views[place].who))
    return views


def tally_of(project, file: Path, *, again: bool = False) -> importing.ImportSummary:
    """Import a log."""
    with LogFile(file) as log:
        return import_log(project, log, create_parser(project), lambda summary: None, again=again)


def imported(project, file: Path, *, again: bool = False) -> tuple[int, int]:
    """Import a log; how many of its views were new, and how many known."""
    summary = tally_of(project, file, again=again)
    return summary.new, summary.known


def keys(project) -> set[int]:
    """What the stored views are known by."""
    return set(PageView.objects.filter(project=project).values_list("key", flat=True))


def written(file: Path, text: str, age: float = 3600) -> Path:
    """A log that was last written to so many seconds ago."""
    file.write_text(text)
    os.utime(file, (time.time() - age,) * 2)
    return file


# Lines


@pytest.mark.parametrize(
    "line",
    [
        combined("/a?b=1", agent=CHATGPT, referrer="https://x.example/"),
        combined("/a", agent=CHATGPT, referrer="https://x.example/")[:-1] + ' "203.0.113.1" 0.012\r\n',
        "docs.acme.example:443 " + combined("/a", agent=CHATGPT, referrer="https://x.example/"),
        combined("/a", agent=CHATGPT, referrer="https://x.example/").replace("- -", '- "a b'),
        '{"time_iso8601": "2026-03-10T12:00:00+00:00", "remote_addr": "198.51.100.1", "request": "GET /a HTTP/2.0", '
        f'"status": "200", "http_user_agent": "{CHATGPT}", "http_referer": "https://x.example/"}}',
        '{"msec": "1773144000.000", "remote_addr": "198.51.100.1", "request_method": "GET", "request_uri": "/a?b", '
        f'"status": 200, "http_user_agent": "{CHATGPT}", "http_referer": "https://x.example/"}}',
        '{"ts": 1773144000.0, "status": 200, "request": {"remote_ip": "198.51.100.1", "method": "GET", "uri": "/a", '
        '"host": "docs.acme.example", "headers": {"status": ["404"], "Referer": ["https://x.example/"], '
        f'"User-Agent": ["{CHATGPT}"]}}}}}}',
        '{"ClientIP": "198.51.100.1", "ClientRequestHost": "docs.acme.example", "ClientRequestMethod": "GET", '
        f'"ClientRequestURI": "/a?b", "ClientRequestUserAgent": "{CHATGPT}", "EdgeResponseStatus": 200, '
        '"ClientRequestReferer": "https://x.example/", "EdgeStartTimestamp": 1773144000000000000}',
        '{"id": "1", "path": "/a", "timestamp": "2026-03-10T12:00:00Z", "ip": "198.51.100.1", '
        f'"userAgent": "{CHATGPT}", "referrer": "https://x.example/"}}',
    ],
    ids=["combined", "more fields", "vhost", "user", "nginx JSON", "its other names", "Caddy", "Cloudflare", "collect"],
)  # fmt: skip
def test_each_format_is_read(line):
    seen = ViewParser(DOCS).parse(line.strip("\n").encode())
    assert seen[1:5] == (seen.raw_path, NOON, seen.address, CHATGPT)
    assert (seen.raw_path, str(seen.address), seen.referrer) == ("/a", "198.51.100.1", "https://x.example/")


def test_escapes_are_undone():
    nginx = combined(agent=r"A \x22quoted\x22 \xC3\xA4gent \\").strip()
    assert parse_line(nginx).user_agent == 'A "quoted" ägent \\'
    assert parse_line(combined(agent=r"Apache \"quotes\"\n so").strip()).user_agent == 'Apache "quotes"  so'
    assert parse_line(combined(agent="-").strip()).user_agent == ""
    assert parse_line('198.51.100.1 - - [10/Mar/2026:12:00:00 +0000] "GET / HTTP/1.0" 200 5').user_agent == ""


def test_json_tells_what_combined_cannot():
    fields = {"path": "/", "timestamp": "2026-03-10T12:00:00Z", "ip": "::ffff:198.51.100.1", "userAgent": "x"}
    views = ViewParser(DOCS)
    seen = views.parse(json.dumps({**fields, "accept": "text/markdown", "http_dnt": "1", "id": "mine"}).encode())
    assert (seen.accept, seen.private, seen.view_id, str(seen.address)) == (
        "text/markdown",
        True,
        "mine",
        "198.51.100.1",
    )
    assert views.parse(json.dumps({**fields, "http_sec_purpose": "prefetch"}).encode()) is SkipReason.AHEAD
    assert views.parse(json.dumps({**fields, "request_id": "f" * 32}).encode()).view_id == "f" * 32
    assert views.parse(json.dumps({**fields, "request_id": "-"}).encode()).view_id != "-"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("10/Mar/2026:13:30:00 +0130", NOON),
        ("10/Mar/2026:11:30:00.25 -0030", NOON.replace(microsecond=250_000)),
        ("2026-03-10T12:00:00.250000000Z", NOON.replace(microsecond=250_000)),
        ("2026-03-10 12:00:00", NOON),
        ("1773144000", NOON),
        ("1773144000250", NOON.replace(microsecond=250_000)),
        ("1773144000250000", NOON.replace(microsecond=250_000)),
        ("1773144000.25", NOON.replace(microsecond=250_000)),
        ("10/Mrz/2026:12:00:00 +0000", None),
        ("31/Feb/2026:12:00:00 +0000", None),
        ("01/Jan/0001:00:00:00 +0900", None),
        ("noon", None),
        ("", None),
    ],
)
def test_times(text, at):
    assert parse_time(text) == at


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        *((path, None) for path in ("/", "/a/", "/a.md", "/a.MDX?x=1", "/a.html", "/llms.txt", "/x/llms-full.txt")),
        *((path, None) for path in ("/release-1.2", "/v2.0", "/api/user.create", "/%F0%9F%98%80")),
        *((path, SkipReason.ASSET) for path in ("/app.js", "/x/LOGO.SVG?v=3", "/robots.txt", "/sitemap.xml", "/a.zip")),
        *(
            (path, SkipReason.ASSET)
            for path in ("/.well-known/x", "/_next/image?url=/a", "/guide?_rsc=1a2b", "/cdn-cgi/l")
        ),
        ("", SkipReason.UNREADABLE),
    ],
)
def test_which_paths_are_pages(path, reason):
    seen = ViewParser(DOCS).parse(combined(path).strip().encode())
    assert (seen if isinstance(seen, SkipReason) else None) is reason


def test_which_requests_are_views():
    views = ViewParser(f"{DOCS}/docs", ["https://acme.example"])
    reasons = {
        combined("/docs/a", status=304): None,
        combined("/docs"): None,
        combined("/docs/a", status=404): SkipReason.STATUS,
        combined("/docs/a", status=301): SkipReason.STATUS,
        combined("/docs/a", method="HEAD"): SkipReason.METHOD,
        combined("/docs/a", method="POST"): SkipReason.METHOD,
        combined("/docsy"): SkipReason.FOLDER,
        combined("/"): SkipReason.FOLDER,
        "shop.acme.example:443 " + combined("/docs/a"): SkipReason.HOST,
        "www.acme.example:443 " + combined("/docs/a"): None,
        "127.0.1.1:80 " + combined("/docs/a"): None,
        combined("/docs/a", at=datetime.now(UTC) + timedelta(minutes=6)): SkipReason.NO_TIME,
        combined("/docs/a", at=datetime(1999, 12, 31, tzinfo=UTC)): SkipReason.NO_TIME,
        combined("/docs/a", ip="crawler.example"): SkipReason.NO_ADDRESS,
    }
    found = {line: views.parse(line.strip().encode()) for line in reasons}
    assert {line: seen if isinstance(seen, SkipReason) else None for line, seen in found.items()} == reasons


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("http://evil.example/privacy", None),
        ("HTTPS://me@evil.example?x=http://docs.acme.example/", None),
        ("https://docs.acme.example:443/docs/a?b=1", "/docs/a"),
        ("http://docs.acme.example/other", None),
    ],
)
def test_a_target_that_names_a_host_is_of_that_host(target, path):
    seen = ViewParser(f"{DOCS}/docs").parse(combined(target).strip().encode())
    assert (None if isinstance(seen, SkipReason) else seen.raw_path) == path
    assert path or seen is (SkipReason.HOST if "evil" in target else SkipReason.FOLDER)


def test_people_are_left_out_where_a_script_counts_them():
    views = ViewParser(DOCS, people=False)
    assert views.parse(combined().strip().encode()) is SkipReason.PERSON
    assert views.parse(combined("/install.md").strip().encode()).user_agent == CHROME
    assert views.parse(combined(agent=CHATGPT).strip().encode()).user_agent == CHATGPT


def test_nothing_in_a_line_breaks_the_import(make_project, tmp_path):
    dice, project = random.Random(1), make_project().project
    good = combined(
        "/good\\x00\\xFF%00%FF", agent="a\x00\x1b[31m\u202e", referrer="https://a\x00\u202e.example"
    ).encode()
    raw = (
        '{"path": "/\\u0000\\ud800", "timestamp": "2026-03-10T12:00:00Z", "ip": "::1", "userAgent": "\\ud800\\u0000", '
    )
    lines = [
        good,
        raw.encode() + b'"referrer": "https://\\ud800\\u0000.example", "id": "\\ud800"}\n',
        combined("/" + "x" * 9_000, agent="y" * 9_000).encode(),
        *(bytes(dice.randbytes(dice.randrange(200))) + b"\n" for _ in range(50)),
        b'{"a":' * 10_000 + b"\n",
        b'{"path": ' + b"9" * 5_000 + b"}\n",
        b'{"path": {}, "ip": [], "timestamp": [[]], "status": NaN}\n',
        b'{"request": {"headers": 1}}\n',
        combined("/" + "long" * MAX_LINE_BYTES).encode(),
        b"x" * 3 * files.BLOCK + b"\n",
        combined("/last").encode(),
    ]  # fmt: skip
    (tmp_path / "log").write_bytes(b"".join(lines))
    with LogFile(tmp_path / "log") as log:
        assert max(len(line) for _, lines in log.blocks() for line in lines) < files.BLOCK + MAX_LINE_BYTES
    with LogFile(tmp_path / "log") as log:
        summary = import_log(project, log, create_parser(project), lambda summary: None)
    assert (summary.new, summary.known) == (4, 0)
    assert sum(summary.skipped.values()) + 4 == summary.lines
    assert imported(project, tmp_path / "log") == (0, 0)
    (tmp_path / "strange").write_bytes(lines[1])
    assert imported(project, tmp_path / "strange") == (0, 1)
    assert PageView.objects.filter(project=project, user_agent__regex=r"[\x00\x1b\u202e]").count() == 0


# Logs


def test_a_log_counts_as_its_views_do(make_project, tmp_path):
    project, views, dice = make_project().project, made(2, 300), random.Random(2)
    (tmp_path / "log").write_text("".join(map(line_of, views)))
    assert imported(project, tmp_path / "log") == (len(views), 0)
    now = datetime.now(UTC)
    check(
        project, views, [(now - timedelta(days=20), now), *((at, now) for at in dice.sample([v.at for v in views], 4))]
    )


def test_a_line_is_known_again_in_whatever_file_it_comes(make_project, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 1000)
    project, views = make_project().project, made(3, 200)
    lines = list(map(line_of, views))
    log = tmp_path / "log"
    log.write_text("".join(lines))
    assert imported(project, log) == (len(views), 0)
    assert imported(project, log) == (0, 0)
    second = [n for n in range(1, len(views)) if views[n].at != views[n - 1].at]  # where one begins
    half = "".join(lines[second[40] :])
    packed, several = gzip.compress(half[:500].encode()), gzip.compress(half[500:].encode())
    (tmp_path / "log.1.gz").write_bytes(packed + several)
    assert imported(project, tmp_path / "log.1.gz")[0] == 0
    (tmp_path / "both").write_text(line_of(views[0]).replace("GET", "HEAD") + "".join(lines) + half)
    assert imported(project, tmp_path / "both")[0] == 0
    (tmp_path / "dos").write_text("".join(lines[5:]).replace("\n", "\r\n"))
    assert imported(project, tmp_path / "dos")[0] == 0
    log.rename(tmp_path / "log.1")
    assert imported(project, tmp_path / "log.1") == (0, 0)


def test_equal_lines_of_one_second_are_as_many_views(make_project, tmp_path):
    project, line = make_project().project, combined()
    (tmp_path / "log").write_text(line * 3 + combined("/other") + line + combined(at=NOON + timedelta(seconds=1)))
    assert imported(project, tmp_path / "log") == (6, 0)
    (tmp_path / "log.1").write_text(combined("/other", method="POST") + line * 4)
    assert imported(project, tmp_path / "log.1") == (0, 4)


def test_equal_lines_are_as_many_views_with_other_seconds_between_them(make_project, tmp_path):
    project, next_second = make_project().project, NOON + timedelta(seconds=1)
    (tmp_path / "log").write_text((combined() + combined(at=next_second)) * 3)
    assert imported(project, tmp_path / "log") == (6, 0)
    (tmp_path / "log.1").write_text(combined("/first") + combined() * 3 + combined(at=next_second) * 4)
    assert imported(project, tmp_path / "log.1") == (2, 6)


@pytest.mark.parametrize("packed", first_of([False, True], 1))
def test_an_import_that_crashes_after_any_batch_ends_with_the_same_views(make_project, tmp_path, monkeypatch, packed):
    monkeypatch.setattr(files, "BLOCK", 2_000)
    monkeypatch.setattr(files, "_BACK", 3_000)
    monkeypatch.setattr(importing, "_SAVE_SECONDS", 0)
    busy = (combined() * 2 + combined("/other", NOON + timedelta(seconds=1))) * 20  # longer than what is looked back on
    text = (busy + "".join(map(line_of, made(4, 150)))).encode()
    log = tmp_path / "log"
    log.write_bytes(gzip.compress(text) if packed else text)
    spared, crashing = make_project().project, make_project().project
    set_analytics(crashing, visitor_secret=visitor_secret(spared))
    imported(spared, log)
    resumed = set()
    for attempt in range(100):
        batches = iter(range(4 + attempt))

        def crash(summary, batches=batches):
            resumed.add(summary.start_offset)
            if next(batches, None) is None:
                raise Crash

        try:
            with LogFile(log) as opened:
                import_log(crashing, opened, create_parser(crashing), crash)
            break
        except Crash:
            recording.record(crashing, [])  # what is under way is still stored: the writer takes turns
    assert len(resumed) > 2, "it went on where it had come to"
    assert keys(crashing) == keys(spared)
    assert imported(crashing, log) == (0, 0)


@pytest.mark.matrix
def test_kill_9_in_the_middle_changes_nothing(make_project, tmp_path):
    tenant, at = make_project(), datetime.now(UTC) - timedelta(days=2)
    with (tmp_path / "log").open("w") as log:
        log.writelines(combined(f"/{n % 50}", at + timedelta(seconds=n // 3), f"10.0.0.{n % 7}") for n in range(25_000))
    mine = PageView.objects.filter(project=tenant.project)
    with scenarios.running("importlog", tenant.domain, tmp_path / "log") as (process, _):
        wait_for(lambda: mine.count() > 1_500, "the first views")
        process.send_signal(signal.SIGKILL)
    assert 0 < mine.count() < 25_000
    said = run(tenant.domain, tmp_path / "log").stdout
    assert mine.count() == 25_000
    assert f"manage.py exportvisitors {tenant.domain} --from {at:%Y-%m-%d} --to" in said
    said = run(tenant.domain, tmp_path / "log").stdout
    assert "nothing new since the last import" in said
    assert mine.count() == 25_000


def test_a_log_that_grows_is_read_from_where_it_ended(make_project, tmp_path):
    project, log = make_project().project, tmp_path / "log"
    first, second = combined() * 2, combined() + combined("/new")  # in the middle of a second
    written(log, first)
    assert imported(project, log) == (2, 0)
    written(log, first + second)
    assert imported(project, log) == (2, 0)
    written(log, second)  # rotated: begins with a line that is known
    assert imported(project, log) == (0, 2)
    written(log, first.replace("install", "another"))
    assert imported(project, log) == (2, 0)


def test_an_unfinished_line_waits_and_a_finished_file_loses_none(make_project, tmp_path):
    project, log = make_project().project, tmp_path / "log"
    whole = combined("/1") + combined("/2") + combined("/3").strip()
    written(log, whole[:-20], age=0)
    assert imported(project, log) == (2, 0)
    assert tally_of(project, log).has_partial_line
    written(log, whole, age=0)
    assert imported(project, log) == (1, 0)
    assert tally_of(project, written(log, whole)).lines == 0
    assert tally_of(project, written(log, whole + "\r\n")).lines == 0
    written(log, whole + "\n" + combined("/4"))
    summary = tally_of(project, log)
    assert (summary.new, summary.known, summary.lines) == (1, 0, 1)
    (tmp_path / "log.gz").write_bytes(gzip.compress(whole.replace("198", "203").encode()))
    assert imported(project, tmp_path / "log.gz") == (3, 0)
    assert imported(project, tmp_path / "log.gz") == (0, 0)
    assert imported(project, written(tmp_path / "empty", "")) == (0, 0)
    assert imported(project, written(tmp_path / "begun", whole[:50], age=0)) == (0, 0)


WITH_MORE = combined().replace("\n", ' "198.51.100.7"\n')
COMMON = '198.51.100.1 - - [10/Mar/2026:12:00:00 +0000] "GET / HTTP/1.0" 200 512'
JSON = '{"time": "2026-03-10T12:00:00Z", "ip": "198.51.100.1", "path": "/a", "userAgent": "x"}'


@pytest.mark.parametrize(
    ("text", "lines", "later"),
    first_of(
        [
            (combined().strip(), 1, 0),
            (combined().strip() + "\r", 1, 0),
            (combined() + combined("/a").strip(), 2, 0),
            (combined() + combined("/a").strip()[:-1], 1, 0),
            (combined() + combined("/a").partition(' "-"')[0], 1, 0),  # it was cut: the user agent is missing
            (WITH_MORE * 2 + combined("/a").strip(), 2, 0),
            (WITH_MORE * 2 + WITH_MORE.strip(), 3, 0),
            (f"{COMMON}\n{COMMON}", 1, 1),
            (COMMON, 0, 1),
            (JSON, 1, 0),
            (f"{COMMON}\n{JSON}", 2, 0),
            (f"{COMMON}\n{JSON[:-1]}", 1, 0),
        ],
        4,
    ),
)
def test_of_a_log_that_is_being_written_only_a_whole_last_line_is_read(make_project, tmp_path, text, lines, later):
    project, log = make_project().project, written(tmp_path / "log", text, age=0)
    summary = tally_of(project, log)
    assert (summary.new, summary.lines) == (lines, lines)
    assert summary.has_partial_line is (lines <= text.count("\n"))
    assert imported(project, log) == (0, 0)
    assert imported(project, written(log, text)) == (later, 0), "an hour later, when nobody writes any more"


@pytest.mark.matrix
def test_a_log_may_be_cut_anywhere_and_completed_later(make_project, tmp_path):
    lines = "".join(combined(f"/{n}") for n in range(4))
    for cut in range(len(lines) // 2, len(lines), 7):
        project, log = make_project().project, tmp_path / f"log {cut}"
        before = imported(project, written(log, lines[:cut]))[0]
        assert before + imported(project, written(log, lines))[0] == 4, lines[:cut][-80:]


def test_a_line_that_grew_after_it_was_read_is_no_second_view(make_project, tmp_path):
    project, log = make_project().project, written(tmp_path / "log", combined().strip(), age=0)
    assert imported(project, log) == (1, 0)
    written(log, combined().strip() + " more\n" + combined("/next"), age=0)
    summary = tally_of(project, log)
    assert (summary.new, summary.known, summary.skipped[SkipReason.UNREADABLE]) == (1, 0, 1)
    written(log, combined().strip(), age=0)  # and where another log is joined to it
    written(log, combined().strip() + combined("/joined"), age=0)
    assert imported(project, log) == (1, 0)


def test_a_mark_of_utf_8_loses_no_line(make_project, tmp_path):
    project, log = make_project().project, tmp_path / "log"
    assert imported(project, written(log, "\ufeff" + combined("/1") + combined("/2"))) == (2, 0)
    assert imported(project, log) == (0, 0)
    assert imported(project, written(log, combined("/1") + "\ufeff" + combined("/2")), again=True) == (0, 2)
    assert imported(project, written(tmp_path / "json", "\ufeff" + JSON)) == (1, 0)
    assert verification.parse('\ufeff["192.0.2.1"]') == ["192.0.2.1/32"]


@pytest.mark.matrix
def test_a_log_can_be_imported_again_from_its_beginning(make_project, tmp_path):
    tenant = make_project()
    project, log = tenant.project, written(tmp_path / "log", combined(agent=CHATGPT) + "www.x.example " + combined())
    assert tally_of(project, log).skipped[SkipReason.HOST] == 1
    project.allowed_origins = ["https://x.example"]
    project.save()
    said = run(tenant.domain, log).stdout
    assert said == f"{log}: nothing new since the last import (--again reads it from its beginning).\n"
    assert "2 lines: 2 views (1 new, 1 known already)." in run(tenant.domain, log, "--again").stdout
    assert imported(project, log) == (0, 0)


def test_what_is_kept_of_a_log_tells_nothing_of_who_read(make_project, tmp_path):
    project = make_project().project
    line = combined("/a", ip="198.51.100.1", agent=CHROME)
    for name, changed in (
        ("same", line),
        (
            "other reader",
            combined("/a?mail=me@x.example", ip="203.0.113.77", agent=CHATGPT, referrer="https://x.example/"),
        ),
        ("other page", combined("/b")),
        ("other second", combined("/a", NOON + timedelta(seconds=1))),
    ):
        LogImport.objects.filter(project=project).delete()
        imported(project, written(tmp_path / "log", changed))
        row = LogImport.objects.get(project=project)
        assert row.first_line == row.last_line, name
        if name == "same":
            known = row.first_line
        assert (row.first_line == known) is (name in ("same", "other reader")), name


def test_logs_that_begin_alike_are_each_imported_whole(make_project, tmp_path):
    project = make_project().project
    one = written(tmp_path / "one", combined() + combined("/1") * 2)
    two = written(tmp_path / "two", combined(ip="203.0.113.77", agent=CHATGPT) + combined("/2") * 3)
    assert (imported(project, one), imported(project, two)) == ((3, 0), (4, 0))
    assert (imported(project, one), imported(project, two)) == ((0, 3), (0, 4))
    assert LogImport.objects.filter(project=project).count() == 1


@pytest.mark.matrix
def test_a_log_whose_views_were_swept_is_not_counted_again(make_project, tmp_path):
    project, views = make_project().project, made(5, 60)
    old = [Seen(seen.observation._replace(at=seen.at - timedelta(days=60)), seen.kind, seen.who) for seen in views]
    log = written(tmp_path / "log", "".join(map(line_of, old)))
    assert imported(project, log) == (len(old), 0)
    sealer.seal()
    PageView.objects.filter(project=project).update(received=0)
    sweeper.sweep(force=True)
    set_analytics(project, visitor_secret="ab" * 32)  # and the project forgot its visitors
    assert imported(project, log) == (0, 0)
    with log.open("a") as more:
        more.write(combined(at=datetime.now(UTC) - timedelta(days=1)))
    assert imported(project, log) == (1, 0)


# The command


def run(*arguments, text=""):
    """The command as a process."""
    return scenarios.complete("importlog", *arguments, text=text)


def test_it_says_what_became_of_each_line(make_project, tmp_path):
    domain = make_project().domain
    lines = combined("/1") + combined("/1.css") + "junk\n" + combined("/2", status=404) + combined("/3", agent="curl/8")
    later = written(tmp_path / "a", combined("/4", at=NOON + timedelta(days=40)))
    said = run(domain, later, written(tmp_path / "b", lines)).stdout
    first, second, export, admin = said.splitlines()
    assert first == (
        f"{tmp_path}/b: 5 lines: 2 views (2 new, 0 known already), 1 redirects, errors and other answers, 1 not pages, "
        "1 unreadable (first: line 3)."
    )
    assert second == f"{tmp_path}/a: 1 line: 1 view (1 new, 0 known already)."
    assert export.endswith(f"manage.py exportvisitors {domain} --from 2026-03-10 --to 2026-04-20")
    assert admin.endswith(domain)
    assert not Seal.objects.filter(
        project__domain=domain, sealed_to__lt=PageView.objects.filter(project__domain=domain).latest("pk").pk
    ).exists()


@pytest.mark.slow
def test_standard_input_is_a_log_too(make_project):
    domain = make_project().domain
    lines = combined("/1") + combined("/2", agent=CHATGPT).strip()
    for options, summary in (
        (["--without-people"], "1 view (1 new, 0 known already), 1 of people"),
        ([], "2 views (1 new, 1 known already)"),
    ):
        said = run(domain, "-", *options, text=lines)
        assert summary in said.stdout, said.stderr


@pytest.mark.matrix
def test_pipes_are_read_in_the_order_in_which_they_are_named(make_project, tmp_path):
    domain = make_project().domain
    packed, plain = tmp_path / "b", tmp_path / "a"
    packed.write_bytes(gzip.compress(combined().encode()))
    plain.write_text(combined() + combined("/2").strip())
    script = '"$0" manage.py importlog "$1" <(cat "$2") <(cat "$3")'
    command = ["bash", "-c", script, sys.executable, domain, packed, plain]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    first, second, *_ = said.stdout.splitlines()
    assert first.startswith("/dev/fd/"), said.stderr
    assert first.endswith(": 1 line: 1 view (1 new, 0 known already).")
    assert second.endswith(": 2 lines: 2 views (1 new, 1 known already).")
    assert not LogImport.objects.filter(project__domain=domain).exists()


@pytest.mark.matrix
def test_a_line_that_is_left_is_told(make_project, tmp_path):
    domain, log = make_project().domain, written(tmp_path / "log", combined() + COMMON, age=0)
    left = "Its last line has no end yet and is left for the next import."
    assert run(domain, log).stdout.startswith(f"{log}: 1 line: 1 view (1 new, 0 known already). {left}\n")
    assert run(domain, log).stdout.endswith(f"(--again reads it from its beginning). {left}\n")
    assert run(domain, written(log, COMMON, age=0)).stdout == f"{log}: holds no whole line. {left}\n"


def test_that_nobody_reads_what_is_shown_is_no_mistake_in_the_log(make_project, tmp_path, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(importlog, "SHOW_SECONDS", -1)
    command = importlog.Command(stdout=Closed())
    command.people, command.again, command.summaries = True, False, []
    with pytest.raises(BrokenPipeError):
        command.import_file(make_project().project, written(tmp_path / "log", combined()))


def test_mistakes_are_told_in_a_sentence(make_project, tmp_path):
    domain = make_project().domain
    good = written(tmp_path / "good", combined())
    for arguments, says in [
        (["nowhere", good], "There is no project nowhere"),
        ([domain, good, tmp_path / "none"], "none: No such file or directory."),
        ([domain, good, tmp_path], "is a folder"),
        ([domain, good, "-"], "standard input cannot"),
    ]:
        with pytest.raises(CommandError, match=says):
            call_command("importlog", *map(str, arguments), stdout=io.StringIO())
    junk = written(tmp_path / "junk", "no log\n" * 3)
    ended = run(domain, good, junk)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"CommandError: {junk}: not an access log: none of its lines is in a format that is read. "
        "Nothing was imported.\n"
    )


def test_a_thousand_strange_lines_are_no_log_and_one_line_makes_one(make_project, tmp_path):
    project = make_project().project
    with pytest.raises(UnreadableLog):
        imported(project, written(tmp_path / "junk", "junk\n" * 1000 + combined() * 2))
    assert imported(project, written(tmp_path / "log", "junk\n" * 999 + combined())) == (1, 0)


def test_what_can_be_unpacked_of_a_damaged_log_is_imported(make_project, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 1000)
    project, views = make_project().project, made(6, 300)
    packed = gzip.compress("".join(map(line_of, views)).encode())
    log = tmp_path / "log.gz"
    log.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(DamagedLog):
        imported(project, log)
    some = len(keys(project))
    assert 0 < some < len(views)
    log.write_bytes(packed)
    assert imported(project, log)[0] == len(views) - some


@pytest.mark.matrix
def test_ctrl_c_says_that_it_can_go_on(make_project, tmp_path):
    tenant = make_project()
    with subprocess.Popen(
        [sys.executable, "manage.py", "importlog", tenant.domain, "-"],
        cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a shell's background jobs ignore
    ) as running:  # fmt: skip
        running.stdin.write(combined())
        running.stdin.flush()
        mine = PageView.objects.filter(project=tenant.project)
        wait_for(mine.exists, "the first view")
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) == 130
        assert running.stderr.read() == "CommandError: Stopped. Run it again to continue where it ended.\n"
