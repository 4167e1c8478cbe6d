"""The archive: each view and final answer in one Parquet file, whatever crashes, and what is erased in none."""

import importlib.util
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.checks import WARNING
from django.core.management import CommandError, call_command

from docsite.core import availability
from docsite.env import Env
from docsite.server import checks
from docsite.server.doctor import services
from tests import scenarios

pytest.importorskip("pyarrow")

from analytics.archive import background, writer
from tests.analytics.archive import archiving


@pytest.fixture
def database(copy_database: Callable[[Path], dict[str, str]], tmp_path: Path) -> dict[str, str]:
    """A database and a folder for one scenario."""
    for name in ("data", "archive"):
        (tmp_path / name).mkdir()
    return {**copy_database(tmp_path / "data"), "ARCHIVE_DIR": str(tmp_path / "archive")}


@pytest.fixture
def archive(tmp_path, settings) -> Path:
    """The folder of an archive that is on."""
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(tmp_path)})
    return tmp_path


def test_each_view_is_in_one_file_and_all_files_are_one_table(database):
    scenarios.run(archiving.columns, database)


def test_a_file_waits_until_it_is_full_but_no_row_for_more_than_a_day(database):
    scenarios.run(archiving.due, database)


def test_a_crash_before_any_step_leaves_out_no_view_and_stores_none_twice(database):
    scenarios.run(archiving.crashes, database)


@pytest.mark.matrix
def test_a_crash_before_any_step_of_an_erasure_is_made_good(database):
    scenarios.run(archiving.crashes_in_changes, database)


def test_processes_that_write_at_once_and_are_killed_store_each_view_once(database):
    scenarios.run(archiving.kills, database)


def test_a_sweep_waits_for_the_file_of_a_view(database):
    scenarios.run(archiving.swept, database)


def test_only_final_answers_are_archived_and_none_is_left_out(database):
    scenarios.run(archiving.final_answers, database)


def test_what_is_erased_deleted_or_redacted_leaves_the_files(database):
    scenarios.run(archiving.erased, database)


def test_an_erasure_reaches_the_files_once_the_folder_works(database):
    scenarios.run(archiving.erased_while_the_folder_fails, database)


def test_an_erasure_has_a_receipt_whatever_the_archive_does(database):
    scenarios.run(archiving.receipts, database)


def test_an_erasure_does_not_wait_without_end_for_the_folder(database):
    scenarios.run(archiving.held, database)


def test_an_empty_folder_or_that_of_another_database_is_not_used(database):
    scenarios.run(archiving.other_folders, database)


def test_the_first_file_marks_the_folder(database):
    scenarios.run(archiving.first_folders, database)


def test_a_forgotten_archive_begins_anew_in_an_empty_folder(database):
    scenarios.run(archiving.forgotten, database)


def test_a_damaged_file_stops_nothing_else(database):
    scenarios.run(archiving.damaged, database)


def test_a_strange_row_stops_nothing_else(database):
    scenarios.run(archiving.strange_rows, database)


def test_a_file_of_answers_is_bounded_by_their_length(database):
    scenarios.run(archiving.long_answers, database)


def test_files_have_the_same_mode_whoever_writes_them(database):
    scenarios.run(archiving.modes, database)


def test_an_erasure_reaches_a_file_that_is_being_written(database):
    scenarios.run(archiving.erased_while_written, database)


def test_an_erasure_that_comes_during_another_one_is_not_forgotten(database):
    scenarios.run(archiving.erased_while_changed, database)


def test_a_project_with_archived_conversations_can_be_deleted(database):
    scenarios.run(archiving.deleted_project, database)


def test_files_of_a_newer_database_stop_the_archive(database):
    scenarios.run(archiving.restored, database)


def test_the_command_writes_everything_and_says_how_to_read_it(database, tmp_path):
    scenarios.run(archiving.waiting_rows, database)
    printed = scenarios.manage(("archive",), database)
    assert re.match(r"Archived 3 views and 2 questions in 2 files and \d\.\d s\.\n", printed)
    assert len(list((tmp_path / "archive").glob("*/*/*.parquet"))) == 2
    assert scenarios.manage(("archive",), database).startswith("Archived 0 views and 0 questions in 0 files")
    assert f"read_parquet('{tmp_path}/archive/views/*/*.parquet', hive_partitioning = true)" in printed


def test_the_command_needs_the_setting():
    with pytest.raises(CommandError, match="ARCHIVE_DIR is not set"):
        call_command("archive", stdout=io.StringIO())


def test_the_setting_needs_the_package(monkeypatch, tmp_path):
    assert Env(archive_dir=str(tmp_path)).archive_dir == str(tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name))
    assert Env(archive_dir="").archive_dir == ""
    with pytest.raises(ValueError, match=re.escape("pip install 'pyarrow~=26.0'")):
        Env(archive_dir=str(tmp_path))


def test_a_folder_that_is_missing_or_cannot_be_written_is_a_warning_at_the_start(archive, settings, monkeypatch):
    assert checks.archive_is_writable() == []
    monkeypatch.setattr(checks.os, "access", lambda *args: False)  # tests may run as root, who may do everything
    (warning,) = checks.archive_is_writable()
    assert (warning.id, warning.level) == ("docsite.W004", WARNING), "erase and backup must run without the folder"
    assert "cannot be written" in warning.msg
    assert "chown" in warning.hint
    assert f"ReadWritePaths=-{archive}" in warning.hint
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(archive / "gone")})
    (warning,) = checks.archive_is_writable()
    assert f"ARCHIVE_DIR: there is no folder {archive / 'gone'}." in warning.msg
    assert "install -d" in warning.hint


def test_the_command_says_which_folder_is_missing_and_what_to_do(archive, settings):
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(archive / "gone")})
    with pytest.raises(CommandError) as refused:
        call_command("archive")
    sentences = (
        f"There is no folder {archive / 'gone'}. Mount it, or correct ARCHIVE_DIR. Then run again: manage.py archive"
    )
    assert str(refused.value).startswith(sentences)


def test_a_folder_that_fails_is_one_line_in_the_log_and_a_finding(archive, settings, caplog, monkeypatch):
    monkeypatch.setattr(availability, "archive", availability.Dependency("The archive"))
    monkeypatch.setattr(availability, "QUIET_SECONDS", 0)
    monkeypatch.setattr(background, "EVERY", background.timedelta(0))
    thread = background._Archiver()
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": str(archive / "gone")})
    for _ in range(3):
        thread.work()
    assert caplog.text.count("The archive does not work") == 1
    assert f"There is no folder {archive / 'gone'}. Mount it, or correct ARCHIVE_DIR" in caplog.text
    finding = services.check_archive()
    assert finding
    assert finding.advice.startswith("Look at ARCHIVE_DIR")
    assert thread.failures == 3, "an alert looks at it"
    monkeypatch.setattr(writer, "write_due", lambda go_on: None)
    thread.work()
    assert "The archive works again" in caplog.text
    settings.ENV = settings.ENV.model_copy(update={"archive_dir": ""})
    assert services.check_archive() is None


def test_views_that_wait_for_long_are_told_to_the_operator(database):
    scenarios.run(archiving.late, database)
