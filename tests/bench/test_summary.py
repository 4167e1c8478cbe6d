"""The table of ratios: verdicts, void rows, and the section of a page that a run replaces."""

import sys
import time

import pytest

from tests.bench import page
from tests.bench.others import MAX_SHARE, Witness
from tests.bench.relays import Trouble
from tests.bench.summary import Row, from_json, render, to_json


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("w", 5, "ms", limit=5), "met"),
        (Row("w", 6, "ms", limit=5), "**missed**"),
        (Row("w", 6, "a second", limit=5, more_is_better=True), "met"),
        (Row("w", 2, "ms", "P", 10, 0.5, limits_ratio=True), "met"),
        (Row("w", 6, "ms", "P", 10, 0.5, limits_ratio=True), "**missed**"),
        (Row("w", 6, "ms", limit=0.5, limits_ratio=True), "no peer in this run"),
        (Row("w", 6, "ms", "P", 10), "better"),
        (Row("w", 6, "", "P", 10, more_is_better=True), "worse"),
        (Row("w", 6, "ms"), ""),
        (Row("w", 5, "ms", limit=5, others=MAX_SHARE + 0.01), "void: other work took 16%"),
    ],
)
def test_a_row_says_whether_it_meets_its_target(row, verdict):
    assert row.verdict == verdict


def test_the_table_has_the_ratio_and_the_target_and_survives_json():
    rows = [Row("first token", 2, "ms", "LiteLLM", 10, 0.33, limits_ratio=True)]
    assert from_json(to_json(rows)) == rows
    assert "| first token | 2.0 ms | 10.0 (LiteLLM) | 0.2 × | ≤ 0.33 × | met |" in render(rows)


def test_a_run_replaces_one_section_of_a_page(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("# P\n\n## One\n\nold\n\n### Part\n\nold\n\n## Two\n\nstays\n")
    page.replace_section(file, "## One", r"new \1")
    page.replace_section(file, "## One", r"newer \1")
    assert file.read_text() == "# P\n\n## One\n\nnewer \\1\n\n## Two\n\nstays\n"
    page.replace_section(file, "## Two", "last")
    assert file.read_text().endswith("## Two\n\nlast\n")
    with pytest.raises(Trouble):
        page.replace_section(file, "## Three", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")
def test_own_work_is_not_other_work(monkeypatch):
    witness = Witness()
    busy = iter([10.0, 12.0])
    monkeypatch.setattr("tests.bench.others._read_busy", lambda: next(busy))
    monkeypatch.setattr("tests.bench.others._read_own", iter([1.0, 2.0]).__next__)
    monkeypatch.setattr("tests.bench.others._read_uptime", iter([100.0, 110.0]).__next__)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with witness.watch("part"):
        time.monotonic()
    assert witness.share("part") == pytest.approx(0.05)  # one second of twice ten
    assert witness.share("never") == 0
