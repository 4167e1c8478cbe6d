"""The peers from Python as workers: `python -m tests.bench.search.peers fts5|fts5-pages|tantivy`.

Both look for any of the query's words: FTS5 with Porter's stemmer, tantivy with its English tokenizer. Title, headings
and text have the weights that were best for each on the development data, of a handful. Facets are conditions of the
engine's own query, so they hold before the limit.
"""

import json
import re
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.search.worker import PAGES, folded, serve, timed

SECTIONS = PAGES * 10  # of which ten pages are folded
Filter = dict[str, str] | None


def words(text: str) -> list[str]:
    """The words of a query, without signs that an engine might take for operators."""
    return re.findall(r"\w+", text.lower())


class Fts5:
    """SQLite's full-text search over sections."""

    def __init__(self, sections: list[dict[str, Any]]) -> None:
        self.file = tempfile.NamedTemporaryFile(suffix=".sqlite3")  # noqa: SIM115  # lives as long as the index
        self.db = sqlite3.connect(self.file.name)
        self.db.execute(
            "CREATE VIRTUAL TABLE s USING fts5(title, headings, text, path UNINDEXED, version UNINDEXED, "
            "language UNINDEXED, tags UNINDEXED, tokenize='porter unicode61')"
        )
        rows = (
            (s["title"], s["headings"], s["text"], s["path"], s["version"], s["language"], json.dumps(s["tags"]))
            for s in sections
        )
        self.db.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self.db.execute("INSERT INTO s (s, rank) VALUES ('rank', 'bm25(10.0, 5.0, 1.0)')")
        self.db.execute("INSERT INTO s (s) VALUES ('optimize')")
        self.db.commit()

    def find(self, text: str, wanted: Filter) -> list[str]:
        """Pages by their best section."""
        match = " OR ".join(f'"{word}"' for word in words(text))
        if not match:
            return []
        where, values = "", [match]
        for kind, value in (wanted or {}).items():
            if kind == "tag":
                where += " AND tags LIKE '%' || ? || '%'"
                values.append(json.dumps(value))
            else:
                where += f" AND {kind} IN ('', ?)"
                values.append(value)
        rows = self.db.execute(f"SELECT path FROM s WHERE s MATCH ?{where} ORDER BY rank LIMIT {SECTIONS}", values)
        return folded([path for (path,) in rows])


class Fts5Pages(Fts5):
    """The same over whole pages."""

    def __init__(self, sections: list[dict[str, Any]]) -> None:
        pages: dict[str, dict[str, Any]] = {}
        for section in sections:
            page = pages.setdefault(section["path"], {**section, "headings": "", "text": ""})
            page["headings"] += "\n" + (section["trail"] or [""])[-1]
            page["text"] += "\n" + section["text"]
        super().__init__(list(pages.values()))


class Tantivy:
    """tantivy over sections, held in memory."""

    NONE = "-"

    def __init__(self, sections: list[dict[str, Any]]) -> None:
        import tantivy

        self.lib = tantivy
        builder = tantivy.SchemaBuilder()
        for name in ("title", "headings", "text"):
            builder.add_text_field(name, tokenizer_name="en_stem")
        builder.add_text_field("path", stored=True, tokenizer_name="raw")
        for name in ("version", "language", "tag"):
            builder.add_text_field(name, tokenizer_name="raw")
        self.schema = builder.build()
        self.index = tantivy.Index(self.schema)
        writer = self.index.writer(128_000_000)
        for s in sections:
            facets = {"version": s["version"] or self.NONE, "language": s["language"] or self.NONE, "tag": s["tags"]}
            texts = {name: s[name] for name in ("title", "headings", "text", "path")}
            writer.add_document(tantivy.Document(**texts, **facets))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def find(self, text: str, wanted: Filter) -> list[str]:
        """Pages by their best section."""
        query = self.index.parse_query(
            " ".join(f'"{word}"' for word in words(text)),
            ["title", "headings", "text"],
            field_boosts={"title": 2.0, "headings": 1.0, "text": 1.0},
        )
        if wanted:
            must = [(self.lib.Occur.Must, query)]
            for kind, value in wanted.items():
                values = [value] if kind == "tag" else [value, self.NONE]
                terms = self.lib.Query.term_set_query(self.schema, kind, values)
                must.append((self.lib.Occur.Must, self.lib.Query.const_score_query(terms, 0.0)))
            query = self.lib.Query.boolean_query(must)
        hits = self.searcher.search(query, SECTIONS, count=False).hits
        return folded([self.searcher.doc(address)["path"][0] for _, address in hits])


ENGINES = {"fts5": Fts5, "fts5-pages": Fts5Pages, "tantivy": Tantivy}
indexes: dict[str, Fts5 | Tantivy] = {}


def build(set: str, file: str) -> dict[str, Any]:
    """Index a file of sections."""
    sections = [json.loads(line) for line in Path(file).read_text().splitlines()]
    began = time.perf_counter()
    indexes[set] = ENGINES[sys.argv[1]](sections)
    return {"seconds": time.perf_counter() - began}


def ask(set: str, queries: list[Any]) -> dict[str, Any]:
    """The pages of each query."""
    pages, ms = timed(indexes[set].find, queries)
    return {"pages": pages, "ms": ms}


if __name__ == "__main__":
    serve({"build": build, "ask": ask})
