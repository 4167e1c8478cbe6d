"""The tables of the page "At scale", and the reader of answers that the loads use."""

import asyncio
from typing import Any

import pytest

from tests.bench.capacity import load, report
from tests.bench.load import Broken

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


def test_cores_and_storage_are_computed_from_what_was_measured():
    assumed = report.ASSUMPTIONS | {"views": 2_592_000_000, "peak": 1.0, "busy": 0.5, "raw_days": 15.0}
    measured = build_results(view=(1.0, 0.5), search=(10.0, 1.0), ask=(20.0, 4.0))
    computed = read_computed(report.describe_computed(measured, assumed))
    assert computed["view: a second at the peak"] == "1,000"
    # 1,000 views of 1 ms, 30 searches of 10 ms and 5 questions of 20 ms a second, on cores that are half busy
    assert computed["cores for web processes"] == "2.8"
    assert computed["cores of PostgreSQL"] == "1.1"
    assert computed["cores for sealing views, in workers and PostgreSQL"] == "0.0"
    assert computed["storage of raw views, GB"] == "259"  # 200 bytes a view, half a month


def test_the_page_says_what_is_missing_instead_of_guessing():
    assert "too few figures" in report.describe_computed(build_results(view=(1.0, 0.5)), report.ASSUMPTIONS)


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


def test_cores_of_each_part_are_computed_from_its_processor_time():
    def cost(kind: str, processes: int = 1, **cpu: float) -> dict[str, Any]:
        row = {"database": "PostgreSQL", "kind": kind, "processes": processes, "projects": 100, "cpu": cpu}
        return {**row, "memory": 2e8 if processes else 0, "failures": 0}

    rows = [cost("view", web=0.5, PostgreSQL=0.2), cost("search", web=4.0), cost("ask with a model", web=20.0)]
    rows += [cost("count 3 views of a project", 0, worker=5.0), cost("count 500 views of a project", 0, worker=0.1)]
    text = report.describe_costs({"machine": "a machine", "views": 10**7, "costs": [*rows, cost("view", 4, web=9.0)]})
    assert "| PostgreSQL | view | 1 | 100 | 0.50 |  | 0.20 |  |  | 0.70 | 200 |  |" in text
    cores = {row[0]: row[1:] for row in ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.split("\n"))
             if len(row) == 3}  # fmt: skip
    # 386 views, 12 searches and 0.4 questions a second; 33 projects are counted in a second
    assert cores["web"] == ["0.25", "1.2"]
    assert cores["worker"] == ["0.54", "2.7"]
    assert cores["PostgreSQL"] == ["0.08", "0.4"]
    assert "too few figures" in report.describe_costs({"machine": "", "views": 1, "costs": rows[:2]})


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
