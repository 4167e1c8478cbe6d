"""What depends on the stores, once more on PostgreSQL and Redis."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docsite.core.tenants.management.commands.createproject import create_project
from search.indexing.ingest import ingest
from tests import scenarios
from tests.conftest import ROOT
from tests.search.indexing.test_engine import found, many_pages

pytestmark = pytest.mark.services

# Files of tests whose result a database or a store of limits can change. Crashes and recounts have databases
# of their own, and are on PostgreSQL in test_analytics; answers that go on elsewhere are in test_two_processes.
_STORED = (
    "analytics/reports/test_question_exports",
    "analytics/collecting/test_collecting",
    "analytics/counting/test_counting",
    "analytics/reports/test_exports",
    "analytics/reports/test_feedback",
    "analytics/collecting/test_identity",
    "analytics/reports/test_visitors",
    "assistant/conversations/test_threads",
    "docsite/core/test_keys",
    "docsite/core/test_limits",
    "docsite/privacy/test_chain",
    "docsite/server/test_database",
    "search/indexing/test_engine",
    "search/indexing/test_generations",
    "search/indexing/test_ingest",
    "search/indexing/test_page_groups",
    "search/postings/test_storage",
    "search/retrieval/test_protected_pages",
    "search/test_queries",
    "search/stored_sources/test_runs",
    "search/stored_sources/test_sources",
)

# Tests of these files whose result no store can change, by the beginnings of their names.
_ELSEWHERE = {
    # They read text, parameters or files, and stop before a store has a part in it.
    "analytics/reports/test_exports": (
        "test_every_form_of_an_instant", "test_a_bad_parameter", "test_a_bad_date_names", "test_all_bad_parameters",
        "test_a_cell_that_a_spreadsheet", "test_a_closed_pipe", "test_it_writes_utf_8", "test_both_reports_share",
    ),
    "analytics/reports/test_feedback": ("test_a_bad_field", "test_a_bad_parameter", "test_all_that_is_wrong"),
    "analytics/reports/test_question_exports": ("test_a_bad_parameter", "test_all_exports_share"),
    "assistant/conversations/test_threads": ("test_deleting_names_the_invalid_field",),
    "docsite/core/test_keys": ("test_a_missing_key", "test_a_key_of_the_other_kind"),
    # Counters of the database, which nothing uses beside Redis.
    "docsite/core/test_limits": (
        "test_a_forwarded_address", "test_behind_a_trusted_tls_proxy", "test_a_counter_", "test_a_running_counter_",
    ),
    "search/indexing/test_ingest": ("test_bad_files", "test_what_is_nested", "test_errors_are_sentences"),
    "search/stored_sources/test_sources": ("test_staff_name_addresses", "test_superusers_alone_name"),
    # The last two start a service: one for a view that stores nothing, one on SQLite.
    "search/test_queries": (
        "test_a_bad_click", "test_every_wrong_field", "test_what_continues", "test_clicks_share_the_limit",
        "test_the_search_page_counts", "test_other_servers_store",
    ),
    # Two are repetitions that take the same statements; the last one is on SQLite.
    "search/indexing/test_generations": (
        "test_searches_see_the_old_index_or_the_new_one[nothing", "test_a_check_finds_in_the_staged_index_what_"
        "readers_find_later[nothing", "test_going_back_to_older_tables",
    ),
    # Eight histories of 25 remain.
    "analytics/counting/test_counting": ("test_counts_are_exact_whatever_comes_in_whichever_order[1",
                                         "test_counts_are_exact_whatever_comes_in_whichever_order[2"),
}  # fmt: skip

# More of the same statements and counters, which `make matrix` runs here.
_VARIANTS = {
    "docsite/core/test_limits": (
        "test_an_address_pays_for_the_cpu_time", "test_an_address_gets_slower", "test_feedback_has_a_limit",
    ),
    "docsite/privacy/test_chain": (
        "test_a_changed_or_missing_entry_is_named[UPDATE privacy_auditentry SET network",
        "test_a_changed_or_missing_entry_is_named[UPDATE privacy_auditentry SET position",
        "test_a_missing_end_is_named",
    ),
    "search/indexing/test_generations": (
        "test_searches_see_the_old_index_or_the_new_one[few", "test_searches_see_the_old_index_or_the_new_one[most",
        "test_a_check_finds_in_the_staged_index_what_readers_find_later[one",
        "test_a_check_finds_in_the_staged_index_what_readers_find_later[most",
        "test_a_killed_ingest_leaves_the_old_index_and_the_next_one_cleans_up[pages",
        "test_of_two_ingests_the_older_gives_way[5", "test_counts_after_many_edits_are_those_of_a_fresh_index[1",
        "test_counts_after_many_edits_are_those_of_a_fresh_index[2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("variants", ["one of each", pytest.param("all", marks=pytest.mark.matrix)])
def test_what_is_stored_is_the_same_on_postgresql_and_redis(new_database: Any, redis: str, variants: str) -> None:
    database = new_database("stored_with_variants" if variants == "all" else "stored")
    stores = {"TEST_DATABASE_URL": database["DATABASE_URL"], "TEST_REDIS_URL": redis}
    files = [f"tests/{name}.py" for name in _STORED]
    elsewhere = [*_ELSEWHERE.items(), *(_VARIANTS.items() if variants != "all" else ())]
    without = [f"--deselect=tests/{name}.py::{test}" for name, tests in elsewhere for test in tests]
    marked = "not browser and not node and not services" + (" and not matrix" if variants != "all" else "")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", marked, *files, *without],
        cwd=ROOT, env={**os.environ, **stores}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-20_000:]
    assert " passed" in run.stdout.splitlines()[-1]


def print_found() -> None:
    """Print what the service finds among many pages."""
    project, *_ = create_project("overlap", "Overlap", "https://docs.example", [])
    ingest(project, many_pages())
    json.dump(found(project), sys.stdout)


def test_the_first_ten_pages_are_those_that_sqlite_finds(new_database: Any, copy_database: Any, tmp_path: Path) -> None:
    databases = copy_database(tmp_path), new_database("pages")
    ones, others = (json.loads(scenarios.run(print_found, database)) for database in databases)
    assert ones == others
    assert sum(map(len, ones)) > 900
