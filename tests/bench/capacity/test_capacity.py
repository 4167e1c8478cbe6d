"""The tables of the page "At scale", and the reader of answers that the loads use."""

import asyncio
from typing import Any

import pytest
from defusedxml import ElementTree

from tests.bench.capacity import chart, load, report
from tests.bench.load import Broken

SVG = "{http://www.w3.org/2000/svg}"
LOAD = load.Figures("search", 1, 100, 1_000, 200.0, 5.0, 9.0, 6.0, 1.5, 200_000_000, 10.0)
STEP = {"seconds": 10.0, "cpu": 8.0, "database_cpu": 2.0, "others": 0.0}


def build_results(**kinds):
    loads = [load.Figures(kind, 1, 100, 1_000, web_cpu=web, database_cpu=db) for kind, (web, db) in kinds.items()]
    steps = {
        "views": {**STEP, "views": 1_000_000, "growth": 200_000_000},
        "seal": {**STEP, "growth": 50_000_000},
        "conversations": {**STEP, "conversations": 1_000, "growth": 5_000_000},
    }
    database = {"loads": load.to_json([LOAD, *loads]), "steps": steps, "idle": {}, "notes": []}
    amounts = {"projects": (1, 100), "views": 1_000_000, "sections": 5, "conversations": 1_000}
    return {
        "machine": "a machine",
        "minutes": 3.0,
        "amounts": amounts,
        "databases": {"PostgreSQL": database},
        "is_short": True,
    }


def read_computed(text):
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    return {row[0]: row[1] for row in cells if len(row) == 2}


def test_storage_is_computed_from_what_the_database_grew_by():
    assumed = report.ASSUMPTIONS | {"views": 2_592_000_000, "raw_days": 15.0}
    stored = read_computed(report.describe_stored(build_results(), assumed))
    assert stored["raw views"] == "259"  # 200 bytes a view, half a month
    assert stored["conversations of a year"] == "60"  # 5,000 bytes


def test_the_page_has_the_loads_of_the_middle_number_of_projects():
    measured = build_results()
    measured["databases"]["PostgreSQL"]["loads"] += load.to_json([load.Figures("mix", 1, 1, 1_000)])
    text = report.describe_measured(measured)
    assert ("| search |" in text, "| mix |" in text, "Requests went to 100 projects" in text) == (True, False, True)


def test_a_load_beside_other_work_is_void():
    measured = build_results()
    assert "void" not in report.describe_measured(measured)
    measured["databases"]["PostgreSQL"]["loads"][0]["others"] = 0.5
    assert "| void: other work took 50% |" in report.describe_measured(measured)


def build_cost(kind: str, processes: int = 1, **cpu: float) -> dict[str, Any]:
    row = {"database": "PostgreSQL", "kind": kind, "processes": processes, "projects": 100, "cpu": cpu}
    return {**row, "memory": 2e8 if processes else 0, "failures": 0}


COSTS = [
    build_cost("view", web=0.5, worker=16.0, PostgreSQL=0.2),
    build_cost("search", web=4.0),
    build_cost("ask with a model", web=20.0),
    build_cost("count 3 views of a project", 0, worker=5.0),
    build_cost("count 500 views of a project", 0, worker=0.1),
    build_cost("view", 4, web=9.0),
]


def test_costs_have_a_row_for_each_kind_and_a_cell_for_each_part():
    text = report.describe_costs({"machine": "a machine", "views": 10**7, "costs": COSTS})
    assert "| PostgreSQL | view | 1 | 100 | 0.50 | 16.00 | 0.20 |  |  | 16.70 | 200 |  |" in text


def test_a_picture_has_a_bar_as_long_as_the_processor_time():
    drawn = ElementTree.fromstring(chart.draw(COSTS))
    bars = {(bar.get("y"), bar.get("fill")): float(bar.get("width") or 0) for bar in drawn.iter(f"{SVG}rect")}
    first, last = str(chart.TOP), str(chart.TOP + 2 * chart.ROW)
    assert bars[first, chart.COLORS["worker"]] == pytest.approx(32 * bars[first, chart.COLORS["web"]], rel=0.01)
    assert bars[last, chart.COLORS["web"]] == chart.WIDTH - chart.LEFT - chart.RIGHT
    assert [text.text for text in drawn.iter(f"{SVG}text")][-2:] == ["question, model, PostgreSQL", "20.0"]


def test_cores_of_each_part_are_computed_from_its_processor_time():
    text = report.describe_computed(COSTS, report.ASSUMPTIONS)
    rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.split("\n"))
    cores = {row[0]: row[1:] for row in rows if len(row) == 3}
    # 386 views, 12 searches and 0.4 questions a second; 33 projects are counted in a second, not one for each view
    assert cores["web"] == ["0.25", "1.2"]
    assert cores["worker"] == ["0.92", "4.6"]
    assert cores["PostgreSQL"] == ["0.08", "0.4"]
    assert cores["all"] == ["", "6.2"]
    assert "first part to be full: worker." in text
    assert read_computed(text)["a model behind an API, for the questions"] == "1,500"
    assert "SQLite" not in text
    assert "too few figures" in report.describe_computed(COSTS[:2], report.ASSUMPTIONS)


def test_the_page_says_how_much_one_process_with_sqlite_carries():
    rows = [{**row, "database": "SQLite"} for row in COSTS]
    text = report.describe_computed([*COSTS, *rows], {**report.ASSUMPTIONS, "peak": 1.0, "busy": 0.5})
    # A view takes 16.7 ms, its part of the searches 0.12 ms and of the questions 0.02 ms.
    assert f"it carries {2_592_000 * 0.5 / 0.01684 / 1e6:,.0f} million views" in text


@pytest.mark.parametrize(
    ("sent", "content"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n", b"ok!"),
    ],
)
async def test_an_answer_is_read_to_its_end(sent, content):
    reader = asyncio.StreamReader()
    reader.feed_data(sent)
    assert await load.read_answer(reader) == content
    assert not reader._buffer


async def test_an_error_is_no_answer():
    for sent in (
        b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}",
        b'HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"type":"error"}',
    ):
        reader = asyncio.StreamReader()
        reader.feed_data(sent)
        with pytest.raises(Broken):
            await load.read_answer(reader)
