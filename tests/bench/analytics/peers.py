"""The peers as workers: `python -m tests.bench.analytics.peers NAME FOLDER [ADDRESS]`.

PostgreSQL and DuckDB count raw rows. DataSketches and ClickHouse merge sketches that were made for each day, page and
layer; page 0 is the whole site. Each has the settings of its own documentation and both cores where it takes them.
"""

import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.analytics.engine import Engine, Row
from tests.bench.analytics.history import AI, ANY, DAY, DAYS, HUMAN, HUMANS, History, hashed

CHUNK = 500_000  # views that are copied at once
Cell = tuple[int, int, int]  # page, layer, visitors


class Postgres(Engine):
    """Raw rows in PostgreSQL, with an index on the instant. `folder` is not used: the server has its own."""

    COUNT = "COUNT(DISTINCT visitor) FILTER (WHERE NOT ai), COUNT(DISTINCT visitor) FILTER (WHERE ai), " \
        "COUNT(DISTINCT visitor)"  # fmt: skip
    EPOCH = 946_684_800_000  # 2000-01-01, from which PostgreSQL counts microseconds

    def __init__(self, folder: Path, address: str) -> None:
        import psycopg

        self.db = psycopg.connect(address)

    def load(self, views: History) -> dict[str, float]:
        """COPY in binary form: each value after its length in bytes."""
        began = time.perf_counter()
        self.db.execute(
            "CREATE TABLE views (at timestamptz NOT NULL, page integer NOT NULL, ai boolean NOT NULL, "
            "visitor bigint NOT NULL)"
        )
        columns = [("at", ">i8"), ("page", ">i4"), ("ai", "i1"), ("visitor", ">i8")]
        layout = [("fields", ">i2")] + [p for name, kind in columns for p in ((f"{name}_length", ">i4"), (name, kind))]
        with self.db.cursor().copy("COPY views FROM STDIN (FORMAT binary)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for start in range(0, len(views), CHUNK):
                part = slice(start, start + CHUNK)
                lines = np.empty(len(views.at[part]), np.dtype(layout))
                lines["fields"] = len(columns)
                for name, kind in columns:
                    lines[f"{name}_length"] = np.dtype(kind).itemsize
                lines["at"] = (views.at[part] - self.EPOCH) * 1000
                lines["page"] = views.page[part]
                lines["ai"] = views.kind[part] != HUMAN
                lines["visitor"] = hashed(views.visitor[part])
                copy.write(lines.tobytes())
            copy.write(b"\xff\xff")
        self.db.commit()
        loaded = time.perf_counter()
        self.db.execute("CREATE INDEX ON views (at)")
        self.db.commit()
        self.db.autocommit = True
        self.db.execute("VACUUM ANALYZE views")
        return {"durable": loaded - began, "index": time.perf_counter() - loaded}

    def query(self, days: int) -> list[Row]:
        """The site, then the pages: faster here than grouping sets."""
        found: list[Row] = []
        for page, group in (("0", ""), ("page", "GROUP BY page")):
            found += self.db.execute(
                f"SELECT {page}, {self.COUNT} FROM views WHERE at >= to_timestamp(%s) {group}",
                [self.history.start(days) / 1000],
            ).fetchall()
        return found

    def rows(self, answer: list[Row]) -> list[Row]:
        return answer

    def size(self) -> dict[str, int]:
        return {"history": self.db.execute("SELECT pg_total_relation_size('views')").fetchone()[0]}

    def about(self) -> dict[str, Any]:
        return {"version": self.db.execute("SHOW server_version").fetchone()[0].split()[0]}


class DuckDB(Engine):
    """Raw rows in a file of DuckDB's."""

    COUNT = "count(DISTINCT visitor) FILTER (NOT ai), count(DISTINCT visitor) FILTER (ai), count(DISTINCT visitor)"

    def __init__(self, folder: Path, address: str = "") -> None:
        import duckdb

        self.file = folder / "views.duckdb"
        self.db = duckdb.connect(str(self.file))

    def load(self, views: History) -> dict[str, float]:
        """From arrays, then to the file."""
        began = time.perf_counter()
        columns = {
            "instant": views.at[:],
            "page": views.page[:],
            "ai": views.kind[:] != HUMAN,
            "visitor": hashed(views.visitor),
        }
        self.db.register("columns", columns)
        self.db.execute("CREATE TABLE views AS SELECT epoch_ms(instant) AS instant, page, ai, visitor FROM columns")
        self.db.unregister("columns")
        self.db.execute("CHECKPOINT")
        return {"durable": time.perf_counter() - began}

    def query(self, days: int) -> list[Row]:
        """As above."""
        found: list[Row] = []
        for page, group in (("0", ""), ("page", "GROUP BY page")):
            found += self.db.execute(
                f"SELECT {page}, {self.COUNT} FROM views WHERE instant >= epoch_ms(?::BIGINT) {group}",
                [self.history.start(days)],
            ).fetchall()
        return found

    def rows(self, answer: list[Row]) -> list[Row]:
        return answer

    def size(self) -> dict[str, int]:
        return {"history": self.file.stat().st_size}


class DuckDBApprox(DuckDB):
    """The same with HyperLogLog at query time."""

    COUNT = (
        "approx_count_distinct(visitor) FILTER (NOT ai), approx_count_distinct(visitor) FILTER (ai), "
        "approx_count_distinct(visitor)"
    )


class Sketches(Engine):
    """A HyperLogLog of Apache DataSketches for each day, page and layer, kept in SQLite as its compact bytes."""

    LG_K = 12  # 4,096 buckets: 1.6 % standard error

    def __init__(self, folder: Path, address: str = "") -> None:
        import datasketches

        self.lib = datasketches
        self.file = folder / "sketches.sqlite3"
        self.db = sqlite3.connect(self.file)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute(
            "CREATE TABLE sketches (day INTEGER, page INTEGER, layer INTEGER, sketch BLOB, "
            "PRIMARY KEY (day, page, layer)) WITHOUT ROWID"
        )

    def load(self, views: History) -> dict[str, float]:
        """A day at a time: its visitors, each once in a sketch."""
        began = time.perf_counter()
        for day in range(DAYS):
            first, last = np.searchsorted(views.at, [views.start(DAYS - day), views.start(DAYS - day - 1)])
            page, kind = views.page[first:last], views.kind[first:last]
            visitor = hashed(views.visitor[first:last])
            for layer, mine in ((HUMANS, kind == HUMAN), (AI, kind != HUMAN), (ANY, slice(None))):
                rows = ((day, p, layer, s) for p, s in self._sketches(page[mine], visitor[mine]))
                self.db.executemany("INSERT INTO sketches VALUES (?, ?, ?, ?)", rows)
            self.db.commit()
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return {"durable": time.perf_counter() - began}

    def _sketches(self, page: np.ndarray, visitor: np.ndarray) -> Iterator[tuple[int, bytes]]:
        yield 0, self._sketch(np.unique(visitor).tolist())
        order = np.lexsort((visitor, page))
        page, visitor = page[order], visitor[order]
        new = np.ones(len(page), bool)
        new[1:] = (np.diff(page) != 0) | (visitor[1:] != visitor[:-1])
        page, visitor = page[new], visitor[new]
        starts = np.flatnonzero(np.diff(page, prepend=-1))
        for begin, end in pairwise([*starts.tolist(), len(page)]):
            yield int(page[begin]), self._sketch(visitor[begin:end].tolist())

    def _sketch(self, visitors: list[int]) -> bytes:
        sketch = self.lib.hll_sketch(self.LG_K, self.lib.tgt_hll_type.HLL_4)
        update = sketch.update
        for visitor in visitors:
            update(visitor)
        return sketch.serialize_compact()

    def query(self, days: int) -> list[Cell]:
        """Open every sketch of the days and merge those of the same page and layer."""
        read, union, lg_k = self.lib.hll_sketch.deserialize, self.lib.hll_union, self.LG_K
        merged: dict[tuple[int, int], Any] = {}
        for page, layer, sketch in self.db.execute(
            "SELECT page, layer, sketch FROM sketches WHERE day >= ?", [DAYS - days]
        ):
            known = merged.get((page, layer))
            if known is None:
                known = merged[page, layer] = union(lg_k)
            known.update(read(sketch))
        return [(page, layer, round(known.get_estimate())) for (page, layer), known in merged.items()]

    def rows(self, answer: list[Cell]) -> Iterator[Row]:
        return by_page(answer)

    def size(self) -> dict[str, int]:
        return {"history": self.file.stat().st_size}


class ClickHouse(Engine):
    """States of `uniqCombined` for each day, page and layer, in a table that merges them, in the order of days."""

    ORDER = "day, page, layer"

    def __init__(self, folder: Path, address: str = "") -> None:
        from chdb.session import Session

        self.folder = folder / "clickhouse"
        self.db = Session(str(self.folder))
        self.db.query("CREATE DATABASE IF NOT EXISTS bench ENGINE = Atomic")
        self.db.query(
            "CREATE TABLE bench.cells (day UInt16, page UInt16, layer UInt8, "
            "visitors AggregateFunction(uniqCombined, UInt64)) "
            f"ENGINE = AggregatingMergeTree ORDER BY ({self.ORDER})"
        )

    def load(self, views: History) -> dict[str, float]:
        """From arrays, straight to states; a view goes to its page and the site, to its layer and that of both."""
        import pyarrow

        began = time.perf_counter()
        for start in range(0, len(views), 4 * CHUNK):
            part = slice(start, start + 4 * CHUNK)
            columns = pyarrow.table({  # noqa: F841  # the query finds it by its name
                "day": ((views.at[part] - views.start(DAYS)) // DAY).astype(np.uint16),
                "page": views.page[part].astype(np.uint16),
                "layer": np.where(views.kind[part] == HUMAN, HUMANS, AI).astype(np.uint8),
                "visitor": hashed(views.visitor[part]).view(np.uint64),
            })  # fmt: skip
            self.db.query(
                "INSERT INTO bench.cells SELECT day, arrayJoin([0, page]) AS p, arrayJoin([layer, 2]) AS l, "
                "uniqCombinedState(assumeNotNull(visitor)) FROM Python(columns) GROUP BY day, p, l"
            )
        loaded = time.perf_counter()
        self.db.query("OPTIMIZE TABLE bench.cells FINAL")
        return {"durable": loaded - began, "index": time.perf_counter() - loaded}

    def query(self, days: int) -> list[Cell]:
        """Merge the states of the days."""
        text = self.db.query(
            "SELECT page, layer, uniqCombinedMerge(visitors) FROM bench.cells "
            f"WHERE day >= {DAYS - days} GROUP BY page, layer", "TabSeparated",
        ).bytes()  # fmt: skip
        return [tuple(map(int, line.split())) for line in text.splitlines()]

    def rows(self, answer: list[Cell]) -> Iterator[Row]:
        return by_page(answer)

    def size(self) -> dict[str, int]:
        active = self.db.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'bench'")
        return {"history": int(active.bytes())}


class ClickHouseByPage(ClickHouse):
    """The same in the order of pages: faster for many days, slower for few."""

    ORDER = "page, layer, day"


def by_page(cells: Iterable[Cell]) -> Iterator[Row]:
    """A row for each page from a cell for each of its layers."""
    for page, mine in groupby(sorted(cells), itemgetter(0)):
        counts = {layer: visitors for _, layer, visitors in mine}
        yield page, counts.get(HUMANS, 0), counts.get(AI, 0), counts[ANY]


ENGINES: dict[str, type[Engine]] = {
    "postgresql": Postgres,
    "duckdb": DuckDB,
    "duckdb-approx": DuckDBApprox,
    "datasketches": Sketches,
    "clickhouse": ClickHouse,
    "clickhouse-by-page": ClickHouseByPage,
}

if __name__ == "__main__":
    name, folder, *address = sys.argv[1:]
    ENGINES[name](Path(folder), *address).serve()
