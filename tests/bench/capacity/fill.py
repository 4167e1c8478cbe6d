"""Fills a database in a process of its own, and does the work that an operator does with it: seal, sweep, reports.

    python -m tests.bench.capacity.fill      commands as lines of JSON, as `tests.bench.search.worker` reads them

Half of everything belongs to one large project, the rest is spread over the others. DATA_DIR and DATABASE_URL name the
database. Projects, pages and views come in through the service's own code, conversations by SQL.
"""

import resource
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import django
from django.core.management import call_command

django.setup()

import time_machine  # noqa: E402  # Django comes first
from django.conf import settings  # noqa: E402
from django.contrib import admin  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import URLResolver, reverse  # noqa: E402
from django.utils import timezone  # noqa: E402

from analytics.collecting import writer  # noqa: E402
from analytics.counting import partitions, sealer, sweeper  # noqa: E402
from analytics.models import PageView, Seal  # noqa: E402
from assistant.models import GroupingProgress, Message, Thread  # noqa: E402
from docsite.core import sql  # noqa: E402
from docsite.core.tenants.management.commands.createproject import create_project  # noqa: E402
from docsite.core.tenants.models import ApiKey, Project  # noqa: E402
from search.indexing.ingest import ingest  # noqa: E402
from search.models import Section  # noqa: E402
from search.sources import Page  # noqa: E402
from search.sources.markdown.folder import read_manifest  # noqa: E402
from tests.bench.analytics import history  # noqa: E402
from tests.bench.analytics.ours import FACTS, Ours  # noqa: E402
from tests.bench.search import scale  # noqa: E402
from tests.bench.search.worker import serve  # noqa: E402
from tests.drafts import build_drafts  # noqa: E402

ORIGIN = "https://docs.example"
SMALL_PAGES = 50  # paths that the views of a small project have
SHORT_PAGES = 20  # the shortest, of which projects with few sections have one
STEP, VIEWS_STEP = 100_000, 1_000_000  # conversations, views of one statement
DAYS = 90

ours: Ours
small: list[Project] = []


def say(line: str) -> None:
    """Show progress."""
    sys.__stderr__.write(f"        {line}\n")
    sys.__stderr__.flush()


class Clock:
    """Seconds on the wall and of this process since it was made."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        return {"seconds": time.perf_counter() - self.wall, "cpu": time.process_time() - self.cpu}


def make_projects(count: int) -> dict[str, Any]:
    """The large project, and the others, a hundred to an organization; their domains and assistant keys."""
    global ours
    clock = Clock()
    ours = Ours()
    keys = [[ours.project.domain, ApiKey.objects.get(project=ours.project).public_token]]
    for start in range(1, count, 1_000):
        with transaction.atomic():
            for number in range(start, min(count, start + 1_000)):
                project, key, owner = create_project(f"p-{number}", f"Organization {number // 100}", ORIGIN, [])
                small.append(project)
                keys.append([project.domain, key])
        say(f"{min(count, start + 1_000):,} projects")
    made = {**clock.read(), "keys": keys, "project_id": ours.project.project_id, "admin_key": ours.key}
    return {**made, "owner": {"project_id": small[-1].project_id, "admin_key": owner}} if small else made


def make_sections(folder: str, count: int) -> dict[str, Any]:
    """Index varied copies of a documentation set in the large project, and some pages of it in each of the others."""
    clock = Clock()
    manifest = Path(folder) / "manifest.jsonl"
    pages = [page for page in build_drafts(read_manifest(manifest.parent, manifest)) if isinstance(page, Page)]
    base = ingest(ours.project, pages).sections
    if (half := count // 2 if small else count) > base:
        ingest(ours.project, scale.varied(pages, max(1, round(half / base))))
    say(f"{Section.objects.count():,} sections in the large project")
    pages.sort(key=lambda page: len(page.markdown))
    for number, project in enumerate(small):
        wanted = (count - half) / len(small) / base * len(pages)  # pages
        ingest(project, _choose(pages if wanted >= 1 else pages[:SHORT_PAGES], number, max(1, round(wanted))))
        if number % 1_000 == 999:
            say(f"{number + 1:,} small projects indexed")
    return {**clock.read(), "sections": Section.objects.count()}


def _choose(pages: list[Page], number: int, count: int) -> list[Page]:
    return [pages[(number + step) % len(pages)] for step in range(min(count, len(pages)))]


def make_conversations(count: int) -> dict[str, Any]:
    """Conversations of one question and one answer, over the last days, by SQL from one that serves as the pattern."""
    clock = Clock()
    now = timezone.now()
    thread = Thread.objects.create(project=ours.project, fp="reader", title="How do I filter rows?")
    pattern = {"thread": thread, "project": ours.project, "caller": "web"}
    question = Message.objects.create(role="user", content="How do I filter rows where a field is not set?", **pattern)
    hit = {"path": "/topics/db/queries", "anchor": "retrieving", "score": 0.8, "digest": "0" * 16}
    answer = Message.objects.create(
        role="assistant", content="A queryset filters rows by its keyword arguments. [1](https://docs.example/t) " * 10,
        rung="extractive", outcome="answered", language="en", chance=0.8, page_path="/topics/db/queries",
        sources=[{"title": "Making queries", "url": f"{ORIGIN}/topics/db/queries"}] * 3, hits=[hit] * 6,
        first_token_ms=20, total_ms=60, **pattern,
    )  # fmt: skip
    threads, messages = thread.pk, answer.pk
    for start in range(1, count, STEP):
        last = min(count - 1, start + STEP - 1)
        _copy(Thread, thread.pk, start, last, {
            "id": f"{threads} + n.i", "project_id": _project(), "created_at": _moment(now),
            "thread_id": f"'thr_' || CAST({10**12} + n.i AS text)",
        })  # fmt: skip
        for step, row in enumerate((question, answer)):
            _copy(Message, row.pk, start, last, {
                "id": f"{messages} + n.i * 2 - {1 - step}", "thread_id": f"{threads} + n.i", "project_id": _project(),
                "message_id": f"'msg_{step}' || CAST({10**12} + n.i AS text)",
                "created_at": _moment(now), "updated_at": _moment(now),
            })  # fmt: skip
        say(f"{last + 1:,} conversations")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in (Thread, Message):
                table = model._meta.db_table
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
            cursor.execute("ANALYZE")
    last_answer = Message.objects.aggregate(last=models.Max("pk"))["last"]
    GroupingProgress.objects.update_or_create(defaults={"answer": last_answer})  # they count as grouped already
    return {**clock.read(), "conversations": Thread.objects.count()}


def _copy(model: type[models.Model], pattern: int, first: int, last: int, changed: dict[str, str]) -> None:
    table = model._meta.db_table
    columns = [field.column for field in model._meta.concrete_fields]
    values = ", ".join(changed.get(column, f"p.{column}") for column in columns)
    numbers = f"generate_series({first}::bigint, {last}) AS n(i)"
    if connection.vendor == "sqlite":
        numbers = "numbers AS n"
    insert = f"INSERT INTO {table} ({', '.join(columns)}) "
    series = f"WITH RECURSIVE numbers(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM numbers WHERE i < {last}) "
    select = f"SELECT {values} FROM {table} p, {numbers} WHERE p.id = {pattern}"
    with connection.cursor() as cursor:
        cursor.execute(insert + (series if connection.vendor == "sqlite" else "") + select)


def _project() -> str:
    """Half of the rows are the large project's."""
    if not small:
        return str(ours.project.pk)
    return f"CASE WHEN n.i % 2 = 0 THEN {ours.project.pk} ELSE {small[0].pk} + (n.i / 2) % {len(small)} END"


def _moment(now: Any) -> str:
    """A moment of the last days; later rows are later."""
    if connection.vendor == "sqlite":
        return f"datetime('{now:%Y-%m-%d %H:%M:%S}', '-' || ((n.i * 7919) % {DAYS * 1440}) || ' minutes')"
    return f"timestamptz '{now.isoformat()}' - ((n.i * 7919) % {DAYS * 1440}) * interval '1 minute'"


def make_views(count: int) -> dict[str, Any]:
    """Record views in batches of 1,000, half of them of the large project. They are not sealed yet."""
    views = history.generate(count)
    clock, stored, turn = Clock(), 0, 0
    for batches in ours.build_batches(views):
        waiting = []
        for number, batch in enumerate(batches):
            if number % 2 and small:
                project = small[turn % len(small)]
                turn += 1
                batch = [view._replace(path=f"/page/{crc32(view.path.encode()) % SMALL_PAGES}") for view in batch]
            else:
                project = ours.project
            waiting.append(writer.submit(project.pk, batch))
        stored += sum(future.result().accepted for future in waiting)
        if stored % 1_000_000 < sum(map(len, batches)):
            say(f"{stored:,} views stored")
    return {**clock.read(), "views": stored}


def make_bulk(projects: int, views: int) -> dict[str, Any]:
    """Further projects, to so many in all, without keys or pages; and counted views of the last 30 days, half of them
    of the large project. By SQL, since the service's own code would take an hour. The domains of the new projects."""
    clock, first = Clock(), Project.objects.count()
    _copy(Project, small[0].pk, first, projects - 1, {
        "id": f"{small[-1].pk - first + 1} + n.i", "domain": "'q-' || n.i", "project_id": "'prj_bulk' || n.i",
    })  # fmt: skip
    say(f"{Project.objects.count():,} projects")
    last = writer.submit(ours.project.pk, [_pattern()]).result() and PageView.objects.latest("pk").pk
    numbers = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i FROM n) AS n"
    sql.execute(
        "INSERT INTO analytics_page (project_id, number, path) SELECT project.id, n.i, '/page/' || n.i "
        f"FROM projects_project AS project CROSS JOIN {numbers} WHERE true ON CONFLICT DO NOTHING"
    )
    hour = int(time.time()) // 3600
    for start in range(1, views, VIEWS_STEP):
        partitions.extend()
        end = min(views, start + VIEWS_STEP - 1)
        _copy(PageView, last, start, end, {
            "id": f"{last} + n.i", "key": "n.i * 7919", "visitor": "n.i * 31 % 1000003", "page": "1 + n.i % 40",
            "project_id": f"CASE WHEN n.i % 2 = 0 THEN {ours.project.pk} ELSE {small[0].pk} + n.i % {projects - 1} END",
            "at": f"p.at - (n.i * 7919 % {30 * 86_400}) * 1000000", "received": f"{hour} - n.i % 720",
        })  # fmt: skip
        if connection.vendor == "postgresql":
            sql.execute("SELECT setval(pg_get_serial_sequence('analytics_pageview', 'id'), %s)", [last + end])
        say(f"{end:,} views")
    now = timezone.now()
    rows = [Seal(project_id=pk, sealed_to=last + views, closed=hour, swept_at=now) for pk in
            Project.objects.values_list("pk", flat=True)]  # fmt: skip
    Seal.objects.bulk_create(rows, 500, update_conflicts=True, unique_fields=["project"], update_fields=["sealed_to"])
    if connection.vendor == "postgresql":
        sql.execute("ANALYZE")
    return {**clock.read(), "domains": [f"q-{number}" for number in range(first, projects)]}


def _pattern() -> writer.View:
    """A view of a person, of page 1."""
    at, facts = time.time_ns() // 1000, FACTS[history.HUMAN]
    return writer.View(time.time_ns(), at, "/page/1", True, time.time_ns() % 9973, facts)


def make_few(projects: int, views: int) -> dict[str, Any]:
    """Record so many views of each of some small projects. They are not counted yet."""
    for project in small[:projects] if projects > 1 else [ours.project]:
        writer.submit(project.pk, [_pattern() for _ in range(views)]).result()
    return {}


def seal() -> dict[str, Any]:
    """Count all views."""
    clock = Clock()
    if not sealer.seal(timeout=7_200):
        raise RuntimeError("The views are not sealed after two hours.")
    return clock.read()


def sweep() -> dict[str, Any]:
    """Do the nightly work as if the history were older than raw views may be; how many views went."""
    before = _count_views()
    with time_machine.travel(timezone.now() + timedelta(days=settings.ENV.raw_view_days + 3), tick=True):
        clock = Clock()
        sweeper.sweep(force=True)
        spent = clock.read()
    return {**spent, "views": before - _count_views()}


def _count_views() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM analytics_pageview")
        return int(cursor.fetchone()[0])


def vacuum() -> dict[str, Any]:
    """Give the space of removed rows back to the disk."""
    clock = Clock()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL" if connection.vendor == "postgresql" else "VACUUM")
    return clock.read()


def size() -> dict[str, Any]:
    """Bytes of the database on the disk."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return {"bytes": int(cursor.fetchone()[0])}
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else its log would hide what the database grows by
    file = Path(str(connection.settings_dict["NAME"]))
    return {"bytes": sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))}


def open_admin() -> dict[str, Any]:
    """Milliseconds of every admin page of the large project, opened a second time, and of the pages without one."""
    client = Client(HTTP_HOST="localhost")
    client.force_login(get_user_model().objects.create_superuser(f"root-{time.time_ns()}"))
    spent: dict[str, float] = {}
    for name, arguments in sorted(_list_admin_pages(admin.site.urls[0])):
        address = reverse(f"admin:{name}", args=[ours.project.domain] if arguments else [])
        if "export" in address:  # it is as long as the history
            continue
        for _ in range(2):
            began = time.perf_counter()
            response = client.get(address)
            _ = b"".join(response)
            ms = (time.perf_counter() - began) * 1000
            if response.status_code != 200:
                break
            spent[address.replace(ours.project.domain, "DOMAIN")] = ms
    return {"pages": spent, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def _list_admin_pages(patterns: Any) -> Iterator[tuple[str, bool]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _list_admin_pages(pattern.url_patterns)
        elif pattern.name and not pattern.name.endswith(("_add", "jsi18n", "logout", "password_change")):
            names = set(pattern.pattern.converters)
            if names <= {"domain"} and not pattern.pattern.regex.groups - len(names):
                yield pattern.name, bool(names)


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    serve({
        "projects": make_projects, "sections": make_sections, "conversations": make_conversations, "views": make_views,
        "bulk": make_bulk, "few": make_few, "seal": seal, "sweep": sweep, "vacuum": vacuum, "size": size,
        "admin": open_admin,
    })  # fmt: skip
