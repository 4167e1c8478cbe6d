"""What may happen to the archive. Each scenario runs in a process, a database and a folder of its own: the archive
holds the rows of all projects, so beside other tests nobody could say what is in it.
"""

import io
import ipaddress
import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import time_machine
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import Max

from analytics.archive import changes, folder, questions, views, writer
from analytics.collecting import recording
from analytics.counting import erasure as analytics_erasure
from analytics.counting import sealer, sweeper
from analytics.models import EPOCH, ArchiveChange, ArchivedRange, ArchiveFolder, PageView
from assistant.admin.conversations.redaction import redact_thread
from assistant.conversations.threads import delete_thread
from assistant.models import Message, Thread
from docsite.core.tenants.models import Organization, Project
from docsite.privacy import erasure
from docsite.privacy.models import AuditEntry
from docsite.server.doctor import services
from docsite.server.metrics import exposition, facts
from tests.analytics.counting.crashes import Crash, new_project, record
from tests.analytics.counting.history import AGENTS, history, view
from tests.conftest import PATIENCE

VIEWS, QUESTIONS = ArchivedRange.Kind.VIEWS, ArchivedRange.Kind.QUESTIONS
LATER = timedelta(days=2)  # when everything of now is due


def write_everything() -> None:
    """What `manage.py archive` does."""
    writer.write_waiting(lambda kind, rows: None)


def read(kind: str) -> Any:
    """All files of a kind as one table, as other programs read them."""
    return ds.dataset(Path(settings.ENV.archive_dir) / kind, partitioning="hive", format="parquet").to_table()


def ids(kind: str, project: Project) -> list[int]:
    """The ids in the files of a project, in the order of files and rows."""
    files = folder.list_files(Path(settings.ENV.archive_dir), kind, project.project_id)
    return [number for *_, path in files for number in folder.read(path, ["id"])["id"].to_pylist()]


def stored_ids(project: Project) -> list[int]:
    """The ids of the views of a project."""
    return list(PageView.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))


def check(project: Project) -> None:
    """Each view is in one file, whose name says so, and the files follow each other."""
    assert ids(VIEWS, project) == stored_ids(project)
    reached = 0
    for first, last, path in folder.list_files(Path(settings.ENV.archive_dir), VIEWS, project.project_id):
        assert first == reached + 1
        assert folder.read(path, ["id"])["id"].to_pylist()[-1] == last
        reached = last


def ask(project: Project, at: datetime, text: str = "How?", fp: str = "reader", **more: Any) -> Message:
    """An answer that was given at a time."""
    thread = Thread.objects.create(project=project, fp=fp, title=text[:20], sample=more.pop("sample", False))
    Message.objects.create(thread=thread, role="user", content=text)
    columns = {"content": "So.", "outcome": "answered", "caller": "web", "model": "tiny", "sources": [], **more}
    answer = Message.objects.create(project=project, thread=thread, role="assistant", **columns)
    Message.objects.filter(thread=thread).update(created_at=at)
    return answer


def columns() -> None:
    """The files hold what the tables hold, and other programs read them as one table."""
    project, other, now = new_project(), new_project(), datetime.now(UTC)
    views.MAX_ROWS = 50
    for one in (project, other):
        record(one, history(random.Random(one.pk), 120, 3, now))
    write_everything()
    check(project)
    check(other)
    assert len(folder.list_files(Path(settings.ENV.archive_dir), VIEWS, project.project_id)) == 3
    table = read(VIEWS).sort_by("id")
    assert set(table["project"].to_pylist()) == {project.project_id, other.project_id}
    rows = [row for row in table.to_pylist() if row["project"] == project.project_id]
    stored = PageView.objects.filter(project=project).order_by("pk")
    assert [row["seen_at"] for row in rows] == [EPOCH + timedelta(microseconds=view.at) for view in stored]
    assert [(row["class"], row["visitor"]) for row in rows] == [*stored.values_list("client_class", "visitor")]
    assert {row["path"] for row in rows} <= {f"/page-{n}" for n in range(6)}
    assert {row["user_agent"] for row in rows if row["class"] == "human"} == {None}
    assert {row["browser"] for row in rows if row["class"] == "human" and row["surface"] == "html"} == {"Chrome"}
    assert table.schema.field("seen_at").type == pa.timestamp("us", tz="UTC")
    assert set(views.SCHEMA.names) | {"project"} == set(table.schema.names)
    (*_, path) = folder.list_files(Path(settings.ENV.archive_dir), VIEWS, project.project_id)[0]
    assert b"198.51.100" not in path.read_bytes()
    group = pq.ParquetFile(path).metadata.row_group(0)
    chunks = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    assert {chunk.compression for chunk in chunks.values()} == {"ZSTD"}
    assert "RLE_DICTIONARY" in chunks["class"].encodings


def due() -> None:
    """A file is written when it is full, or when its first row has waited for a day."""
    project, now = new_project(), datetime.now(UTC)
    views.MAX_ROWS = 50
    record(project, history(random.Random(1), 70, 3, now))
    writer.write_due()
    assert ids(VIEWS, project) == stored_ids(project)[:50]
    writer.write_due()
    assert len(ids(VIEWS, project)) == 50
    with time_machine.travel(now + LATER):
        writer.write_due()
    check(project)


@contextmanager
def crash_at(number: int) -> Iterator[list[str]]:
    """A process that ends before its n-th statement or its n-th change of the folder. Yields what it did before."""
    made: list[str] = []

    def note(step: str) -> None:
        if len(made) == number:
            raise Crash
        made.append(step)

    def execute(proceed: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        note(sql)
        return proceed(sql, params, many, context)

    replace, fsync = Path.replace, os.fsync

    def replace_or_crash(path: Path, target: Path) -> Path:
        note("replace")
        return replace(path, target)

    def fsync_or_crash(file: int) -> None:
        note("fsync")
        fsync(file)

    Path.replace, os.fsync = replace_or_crash, fsync_or_crash  # type: ignore[assignment,method-assign]
    try:
        with connection.execute_wrapper(execute):
            yield made
    except Crash:
        connection.close()
    finally:
        Path.replace, os.fsync = replace, fsync  # type: ignore[method-assign]


def crashes() -> None:
    """Crash before the first step of an archiving, archive; crash before the second of the next; and so on."""
    dice, project, now = random.Random(2), new_project(), datetime.now(UTC)
    views.MAX_ROWS = 4
    for number in count(0):
        record(project, history(dice, 6, 2, now))
        with crash_at(number) as made:
            write_everything()
        written = ids(VIEWS, project)
        assert written == stored_ids(project)[: len(written)]
        write_everything()
        check(project)
        if len(made) < number:
            break
    assert number > 20, "each step of several files"
    assert not list(Path(settings.ENV.archive_dir).rglob("*.tmp"))


def crashes_in_changes() -> None:
    """The same while the files lose the views of a visitor."""
    project, now = new_project(), datetime.now(UTC)
    views.MAX_ROWS = 4
    for number in count(0):
        record(project, [view(now, "/a", who, "human") for who in (1, 2, 3, 1, 2, 3)])
        write_everything()
        visitor = PageView.objects.filter(project=project).latest("pk").visitor
        analytics_erasure.erase_visitors(project, [visitor])
        with crash_at(number) as made:
            changes.apply_all()
        write_everything()
        assert ids(VIEWS, project) == stored_ids(project)
        assert visitor not in read(VIEWS)["visitor"].to_pylist()
        if len(made) < number:
            break
    assert number > 8
    assert not ArchiveChange.objects.exists()


def kills() -> None:
    """Processes that write at once, and are killed again and again."""
    dice, project, now = random.Random(3), new_project(), datetime.now(UTC)
    views.MAX_ROWS = 7
    connections.close_all()
    alive = [_fork() for _ in range(3)]
    for _ in range(25):
        record(project, history(dice, 40, 2, now))
        connections.close_all()
        time.sleep(dice.uniform(0.01, 0.1))
        place = dice.randrange(len(alive))
        _kill(alive[place])
        alive[place] = _fork()
    for pid in alive:
        _kill(pid)
    written = ids(VIEWS, project)
    assert written, "they were busy"
    assert written == stored_ids(project)[: len(written)]
    write_everything()
    check(project)
    assert len(stored_ids(project)) == 1000


def _fork() -> int:
    if pid := os.fork():
        return pid
    try:
        while True:
            write_everything()
    finally:
        os._exit(1)


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def waiting_rows() -> None:
    """Three views and two answers, which are not due yet."""
    project, now = new_project(), datetime.now(UTC)
    record(project, [view(now, "/a", who, "human") for who in (1, 2, 3)])
    for _ in range(2):
        ask(project, now - timedelta(hours=3))


def swept() -> None:
    """A sweep removes no view that has no file yet."""
    project, now = new_project(), datetime.now(UTC)
    record(project, history(random.Random(4), 30, 1, now - timedelta(days=50)))
    assert sealer.seal(PATIENCE)
    PageView.objects.filter(project=project).update(received=0)
    before = stored_ids(project)
    sweeper.sweep(force=True)
    assert stored_ids(project) == before
    with _broken(folder, "write"):
        _try_to_write()
    assert ArchivedRange.archived_to(project.pk, VIEWS) == 0, "its range is stored, and its file is not"
    sweeper.sweep(force=True)
    assert stored_ids(project) == before
    write_everything()
    sweeper.sweep(force=True)
    assert stored_ids(project) == []
    assert ids(VIEWS, project) == before


@contextmanager
def _broken(module: Any, name: str) -> Iterator[None]:
    function = getattr(module, name)

    def fail(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    setattr(module, name, fail)
    try:
        yield
    finally:
        setattr(module, name, function)


def _try_to_write() -> None:
    with pytest.raises(OSError, match="No space left"):
        write_everything()


def final_answers() -> None:
    """An answer gets into a file once it is final. No later one is there before it, and none is left out."""
    project, now = new_project(), datetime.now(UTC)
    old = ask(project, now - timedelta(hours=3), "Before?", content="Yes.", cost=7)
    killed = ask(project, now - timedelta(hours=2), outcome="running", state="running")
    running = ask(project, now - timedelta(minutes=10), outcome="running", state="running", content="")
    later = ask(project, now - timedelta(hours=2))
    ask(project, now - timedelta(hours=3), sample=True)
    write_everything()
    assert ids(QUESTIONS, project) == [old.pk, killed.pk]
    Message.objects.filter(pk=running.pk).update(
        outcome="answered", state="done", content="At last.", sources=[{"title": "A", "url": "https://a.example"}]
    )
    write_everything()
    assert ids(QUESTIONS, project) == [old.pk, killed.pk]
    with time_machine.travel(now + timedelta(hours=2)):
        write_everything()
    assert ids(QUESTIONS, project) == [old.pk, killed.pk, running.pk, later.pk]
    first, second, third, _ = read(QUESTIONS).sort_by("id").to_pylist()
    assert (first["query"], first["response"], first["cost_micros"]) == ("Before?", "Yes.", 7)
    assert (first["thread_id"], first["resolution"]) == (old.thread.thread_id, "unanswered")
    assert first["asked_at"] == now - timedelta(hours=3)
    assert second["outcome"] == "cut"
    assert (third["response"], third["resolution"]) == ("At last.", "answered")
    assert third["sources"] == [{"title": "A", "url": "https://a.example"}]
    assert "reader" not in str(first)


def erased() -> None:
    """What is erased, deleted or redacted in the database goes from the files, too; the rest stays as it was."""
    project, other, now = new_project(), new_project(), datetime.now(UTC) - timedelta(hours=3)
    for one in (project, other):
        for who in (1, 2, 1, 3):
            record(one, [view(now, "/a", who, "human")])
    asked = [ask(project, now, f"I am bob@example.org, {number}", fp=f"reader-{number}") for number in range(4)]
    write_everything()
    PageView.objects.filter(project=project).delete()  # as sweeps do
    receipt = erasure.erase_visitor(project, ipaddress.ip_address("198.51.100.1"), AGENTS["human"])
    assert receipt.erased["archived rows"] == 2
    assert len(ids(VIEWS, project)) == 2
    assert ids(VIEWS, other) == stored_ids(other)
    assert erasure.erase_conversation(project, asked[0].thread.thread_id).erased["archived rows"] == 1
    delete_thread(project, "reader-1", asked[1].thread.thread_id)
    redact_thread(asked[2].thread)
    write_everything()
    assert ids(QUESTIONS, project) == [asked[2].pk, asked[3].pk]
    assert [row["query"] for row in read(QUESTIONS).sort_by("id").to_pylist()] == [
        "I am [e-mail], 2",
        "I am bob@example.org, 3",
    ]
    receipt = erasure.erase_project(project)
    assert receipt.erased["archived rows"] == 4
    assert ids(VIEWS, project) == ids(QUESTIONS, project) == []
    assert ids(VIEWS, other) == stored_ids(other)
    assert not ArchiveChange.objects.exists()
    record(project, [view(now, "/a", 1, "human")])
    write_everything()
    assert ids(VIEWS, project) == stored_ids(project)


def erased_while_the_folder_fails() -> None:
    """The receipt says that the archive lacks the erasure. It follows when the folder works again."""
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    answer = ask(project, now)
    write_everything()
    with _broken(folder, "write"):
        receipt = erasure.erase_conversation(project, answer.thread.thread_id)
    assert receipt.erased["archived rows: they follow as soon as the archive works"] == 0
    assert ids(QUESTIONS, project) == [answer.pk]
    write_everything()
    assert ids(QUESTIONS, project) == []


def receipts() -> None:
    """Whatever the archive does, an erasure has its entry in the audit: the data is gone."""
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    answers = [ask(project, now) for _ in range(2)]
    write_everything()
    for answer, failure in zip(answers, (RuntimeError, KeyboardInterrupt), strict=True):
        with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(changes, "_apply", _raising(failure()))
            erasure.erase_conversation(project, answer.thread.thread_id)
    entries = AuditEntry.objects.filter(action="erased", project=project.domain)
    assert [entry.details["conversations"] for entry in entries] == [1, 1]
    assert all("archived rows: they follow as soon as the archive works" in entry.details for entry in entries)
    write_everything()
    assert ids(QUESTIONS, project) == []


def _raising(failure: BaseException) -> Callable[..., None]:
    def fail(*args: Any) -> None:
        raise failure

    return fail


def other_folders() -> None:
    """In an empty folder, and in that of another database, nothing is written, swept away or taken for erased."""
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    answer = ask(project, now)
    record(project, [view(now, "/a", 1, "human")])
    write_everything()
    right, wrong = Path(settings.ENV.archive_dir), Path(settings.ENV.archive_dir).with_name("wrong")
    wrong.mkdir()
    record(project, [view(now, "/a", 2, "human")])
    for mark, reason in ((None, "lacks the file .archive"), ("0" * 32, "has the archive of another database")):
        if mark:
            (wrong / ".archive").write_text(mark)
        settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(wrong)})
        with pytest.raises(folder.ArchiveError, match=reason):
            write_everything()
        with pytest.raises(folder.ArchiveError, match=reason):
            writer.write_next(project.pk, project.project_id, VIEWS, at_once=True)
        receipt = erasure.erase_conversation(project, answer.thread.thread_id)
        assert "archived rows: they follow as soon as the archive works" in receipt.erased
        assert ArchiveChange.objects.exists()
        assert not list(wrong.rglob("*.parquet"))
        finding = services.check_archive()
        assert finding
        assert reason in finding.fact
        assert finding.advice
        assert ArchivedRange.archived_to(project.pk, VIEWS) == stored_ids(project)[0]
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(right)})
    write_everything()
    check(project)
    assert ids(QUESTIONS, project) == []


def first_folders() -> None:
    """The first file marks the folder. Hosts with folders of their own are refused, and so are other databases."""
    project, now = new_project(), datetime.now(UTC)
    write_everything()
    first, second = Path(settings.ENV.archive_dir), Path(settings.ENV.archive_dir).with_name("second")
    second.mkdir()
    assert not (first / ".archive").exists(), "it may not be mounted yet, and nothing is lost so far"
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(second)})
    record(project, [view(now, "/a", 1, "human")])
    write_everything()
    assert (second / ".archive").read_text().strip() == ArchiveFolder.objects.get().mark
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(first)})
    with pytest.raises(folder.ArchiveError, match=r"lacks the file \.archive"):
        write_everything()
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(second)})
    ArchiveFolder.objects.all().delete()
    with pytest.raises(folder.ArchiveError, match="of another database"):
        write_everything()


def forgotten() -> None:
    """A forgotten archive leaves its files alone, notes no changes, and begins again in an empty folder."""
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    answers = [ask(project, now) for _ in range(3)]
    write_everything()
    first = Path(settings.ENV.archive_dir)
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": ""})
    delete_thread(project, "reader", answers[0].thread.thread_id)
    printed = io.StringIO()
    call_command("archive", "--forget", stdout=printed)
    assert "Forgot 1 file. Erasures and deletions that they lack: 1." in printed.getvalue()
    assert "archived rows" not in str(erasure.erase_conversation(project, answers[1].thread.thread_id).erased)
    assert not ArchiveChange.objects.exists()
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(first)})
    with pytest.raises(folder.ArchiveError, match="or an empty one"):
        write_everything()
    assert ids(QUESTIONS, project) == [answer.pk for answer in answers]
    second = first.with_name("second")
    second.mkdir()
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(second)})
    write_everything()
    assert ids(QUESTIONS, project) == [answers[2].pk]


def damaged() -> None:
    """A damaged file stops neither new files nor the erasures of others, nor those in other files of its project."""
    project, other, now = new_project(), new_project(), datetime.now(UTC)
    for _ in range(2):
        for one in (project, other):
            record(one, [view(now, "/a", who, "human") for who in (1, 2)])
        write_everything()
    root = Path(settings.ENV.archive_dir)
    (_, _, damaged), (_, _, sound) = folder.list_files(root, VIEWS, project.project_id)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-120] + b"\xff" * 112 + content[-8:])  # Arrow says OSError, without a number
    for one in (project, other):
        address = ipaddress.ip_address("198.51.100.1")
        receipt = erasure.erase_visitor(one, address, AGENTS["human"])
        assert receipt.erased.get("archived rows", 0) == (2 if one == other else 0)
        record(one, [view(now, "/b", 3, "human")])
        # The background finds changes of the other one behind the damaged file.
        delete_thread(one, "reader", ask(one, now - timedelta(hours=3)).thread.thread_id)
    with pytest.raises(folder.ArchiveError, match=re.escape(f"{damaged} cannot be read")):
        write_everything()
    assert ids(VIEWS, other) == stored_ids(other)
    assert len(folder.read(sound)) == 1
    assert not ArchiveChange.objects.filter(project=other).exists()
    assert ArchiveChange.objects.filter(project=project).exists()
    damaged.unlink()
    assert len(ids(VIEWS, project)) == 2
    write_everything()
    assert not ArchiveChange.objects.exists()


def strange_rows() -> None:
    """What a column should not hold gets into its file as text, and a row that fits no file stops only its project."""
    project, other, now = new_project(), new_project(), datetime.now(UTC) - timedelta(hours=3)
    strange = [{"title": 7, "url": None}, "page", {"title": "half \ud800", "url": ["a"]}]
    for sources in (strange, {"title": "A"}):
        ask(project, now, sources=sources)
    write_everything()
    first, second = read(QUESTIONS).sort_by("id")["sources"].to_pylist()
    assert first == [{"title": "7", "url": None}, {"title": "half ?", "url": "['a']"}]
    assert second == []
    describe = questions._describe
    bad = ask(project, now)
    ask(other, now)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            questions,
            "_describe",
            lambda answer, asked: describe(answer, asked) | ({"rung": {"secret"}} if answer == bad else {}),
        )
        with pytest.raises(folder.ArchiveError, match="has a value that fits no column") as failure:
            write_everything()
    assert "secret" not in str(failure.value)
    assert len(ids(QUESTIONS, other)) == 1
    write_everything()
    assert len(ids(QUESTIONS, project)) == 3


def long_answers() -> None:
    """A file of answers ends where its text would take too much memory."""
    questions.MAX_BYTES = 1000
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    for length in (300, 300, 1200, 250, 250, 250):
        ask(project, now, content="\N{LATIN SMALL LETTER E WITH ACUTE}" * length)
    write_everything()
    files = folder.list_files(Path(settings.ENV.archive_dir), QUESTIONS, project.project_id)
    assert [len(folder.read(path)) for *_, path in files] == [1, 1, 1, 2, 1]


def modes() -> None:
    """The group can read everything, whoever writes."""
    os.umask(0o077)
    project, now = new_project(), datetime.now(UTC)
    record(project, [view(now, "/a", 1, "human")])
    write_everything()
    found = list(Path(settings.ENV.archive_dir).rglob("*"))
    assert {path.name for path in found} > {".archive", ".lock", "views", "1-1.parquet"}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_file()} == {0o640}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_dir()} == {0o750}


def held() -> None:
    """Who finds the folder held waits for seconds, not forever: an erasure then says that the files follow."""
    folder.LOCK_SECONDS = 0.2
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    answer = ask(project, now)
    write_everything()
    with folder.lock(Path(settings.ENV.archive_dir)):
        receipt = erasure.erase_conversation(project, answer.thread.thread_id)
        assert "archived rows: they follow as soon as the archive works" in receipt.erased
        with pytest.raises(folder.ArchiveError, match="Wait for them"):
            write_everything()
    write_everything()
    assert ids(QUESTIONS, project) == []


def erased_while_written() -> None:
    """A file that is begun before an erasure, and ends after it, loses the rows all the same."""
    project, now = new_project(), datetime.now(UTC)
    record(project, [view(now, "/a", who, "human") for who in (1, 2)])
    visitor = PageView.objects.filter(project=project).latest("pk").visitor
    writes = folder.write

    def erase_then_write(path: Path, table: Any) -> None:
        folder.write = writes
        analytics_erasure.erase_visitors(project, [visitor])
        writes(path, table)

    folder.write = erase_then_write
    write_everything()
    assert len(ids(VIEWS, project)) == 2
    write_everything()
    assert ids(VIEWS, project) == stored_ids(project)


def erased_while_changed() -> None:
    """An erasure that comes while files are made again is not forgotten, nor one before the first file."""
    project, now = new_project(), datetime.now(UTC)
    analytics_erasure.erase_visitors(project, [1])
    assert ArchiveChange.objects.count() == 1, "its first file may be begun at this moment"
    record(project, [view(now, "/a", who, "human") for who in (1, 2, 3)])
    write_everything()
    first, second, third = PageView.objects.filter(project=project).order_by("pk").values_list("visitor", flat=True)
    writes = folder.write

    def erase_then_write(path: Path, table: Any) -> None:
        folder.write = writes
        analytics_erasure.erase_visitors(project, [second])
        writes(path, table)

    analytics_erasure.erase_visitors(project, [first])
    folder.write = erase_then_write
    write_everything()
    assert read(VIEWS)["visitor"].to_pylist() == [third]


def deleted_project() -> None:
    """A project can be deleted with its conversations, and the others go on."""
    project, other, now = new_project(), new_project(), datetime.now(UTC) - timedelta(hours=3)
    for one in (project, other):
        ask(one, now)
    write_everything()
    ask(project, now)
    Organization.objects.filter(pk=project.organization_id).delete()
    assert not ArchivedRange.objects.filter(project=project.pk).exists()
    ask(other, now)
    write_everything()
    assert len(ids(QUESTIONS, other)) == 2
    assert not ArchiveChange.objects.exists()


def restored() -> None:
    """Files that the database does not know stop the archive of their project. Nothing is lost or stored twice."""
    project, other, now = new_project(), new_project(), datetime.now(UTC)
    record(project, history(random.Random(5), 10, 1, now))
    write_everything()
    ArchivedRange.objects.all().delete()  # the database is older
    for one in (project, other):
        record(one, history(random.Random(6), 10, 1, now))
    with pytest.raises(folder.ArchiveError, match=r"1-10\.parquet .* the database was restored"):
        write_everything()
    assert not ArchivedRange.objects.filter(project=project).exists()
    check(other)
    folder.path_of(Path(settings.ENV.archive_dir), VIEWS, project.project_id, 1, 10).unlink()
    write_everything()
    check(project)


def committed_out_of_order() -> None:
    """Rows whose transaction began earlier and ends later are in the files, once (PostgreSQL)."""
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    held, go_on = threading.Event(), threading.Event()
    for kind, hold in ((QUESTIONS, _hold_answer), (VIEWS, _hold_views)):
        held.clear()
        go_on.clear()
        slowly = threading.Thread(target=hold(project, now, held, go_on), daemon=True)
        slowly.start()
        assert held.wait(PATIENCE)
        if kind == QUESTIONS:
            ask(project, now, "quick")
        archiving = threading.Thread(target=write_everything, daemon=True)
        archiving.start()
        archiving.join(1)  # one who does not wait is through by then
        go_on.set()
        for thread in (slowly, archiving):
            thread.join(PATIENCE)
        write_everything()
    answers = Message.objects.filter(project=project).order_by("pk")
    assert ids(QUESTIONS, project) == [*answers.values_list("pk", flat=True)]
    assert len(answers) == 2
    check(project)
    assert len(stored_ids(project)) == 2


def _hold_answer(project: Project, now: datetime, held: threading.Event, go_on: threading.Event) -> Callable[[], None]:
    """Store an answer whose transaction waits."""

    def work() -> None:
        with transaction.atomic():
            ask(project, now, "slow")
            held.set()
            go_on.wait(PATIENCE)

    return work


def _hold_views(project: Project, now: datetime, held: threading.Event, go_on: threading.Event) -> Callable[[], None]:
    """Store a view whose transaction waits, while another connection has committed one with a higher id."""
    from analytics.collecting import writer as collecting

    def store(who: int) -> None:
        built = recording.build_view(project, view(now, "/a", who, "human").observation)
        collecting._store([collecting._Batch(project.pk, [built])])

    def work() -> None:
        store(1)
        with transaction.atomic():
            store(2)
            held.set()
            go_on.wait(PATIENCE)

    return work


def settles_or_waits() -> None:
    """While a transaction writes messages for longer than we wait, no answer gets a file (PostgreSQL)."""
    questions.SETTLE_SECONDS = 0.2
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=3)
    held, go_on = threading.Event(), threading.Event()
    slowly = threading.Thread(target=_hold_answer(project, now, held, go_on), daemon=True)
    slowly.start()
    assert held.wait(PATIENCE)
    quick = ask(project, now, "quick")
    write_everything()
    assert ids(QUESTIONS, project) == []
    go_on.set()
    slowly.join(PATIENCE)
    write_everything()
    newest = Message.objects.filter(project=project).aggregate(newest=Max("pk"))["newest"]
    assert len(ids(QUESTIONS, project)) == 2
    assert quick.pk == newest


def late() -> None:
    """`doctor` and the metrics say how long views have waited."""
    project, now = new_project(), datetime.now(UTC)
    record(project, [view(now, "/a", 1, "human")])
    with time_machine.travel(now + timedelta(days=3)):
        finding = services.check_archive()
        assert finding
        assert finding.fact == "views wait for more than two days"
        assert 71 * 3600 < _read_gauge() < 74 * 3600
        write_everything()
        finding = services.check_archive()
        assert finding
        assert not finding.advice
        assert _read_gauge() == 0


def _read_gauge() -> float:
    (found,) = (metric for metric in facts.collect_stored() if metric.name == "docs_archive_waiting_seconds")
    return float(str(exposition.render([found])).split()[-1])
