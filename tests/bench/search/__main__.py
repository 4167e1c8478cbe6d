"""Measure our search beside its peers, in one run on the same sections, and print tables with the targets.

    make bench-search DATA=folder [ONLY=quality,latency,http,scale] [WITHOUT=lunr,pagefind] [JSON=FILE]
    python -m tests.bench.search --help

The folder holds documentation sets and judged queries: `corpora/*.tar.gz` with a `manifest.jsonl` in each,
`queries.jsonl` and `identifiers.jsonl`. Needed once: Python packages in `.venv-bench`, npm packages beside this file.

What the figures mean:

- Every engine has the same sections (`search.text.sections`: title, headings, text with the page's description). Its
  results are folded to the ten best pages. Only FTS5 on whole pages and Pagefind, which knows no sections, have pages.
- A query's filter is part of the engine's own query everywhere but in lunr, which has none: its full list is filtered.
- The peers' weights were chosen on these very queries, ours are held out: trained on the other sets (`held_out.py`).
  On Django's documentation ours are the shipped ones: nothing was trained or chosen on it.
- question, sentence and keyword are queries as they were written, typo and prefix what was derived from them; both
  count in total. Identifiers are apart. Judgements are known-item: compare engines, don't read values as absolute.
- Latency is that of a call in the engine's process, after 50 untimed queries; blocks of queries take turns.
- Over HTTP our process has the first core and its clients the last one.
- The large site repeats the sets with a fifth of their words made new, a version for each copy.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from tests.bench import documentation, relays
from tests.bench.relays import Trouble, say
from tests.bench.run import run
from tests.bench.search import table
from tests.bench.search.engines import LARGE_PEERS, PEERS
from tests.bench.search.measure import Figures, Run
from tests.bench.summary import to_json
from tests.training import data

PARTS = ("quality", "latency", "http", "scale")
DEFAULT = ("quality", "latency", "http")
MAX_SECONDS = 1_500


def arguments() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add(
        "data",
        type=Path,
        nargs="?",
        help="folder with corpora, queries.jsonl and identifiers.jsonl; else Django's documentation",
    )
    add("--only", default=",".join(DEFAULT), help=f"parts, of {','.join(PARTS)}")
    add("--without", default="", help=f"peers to leave out, of {','.join(PEERS.values())}")
    add("--json", type=Path, help="also write all samples here")
    return parser.parse_args()


def bench(options: argparse.Namespace, folder: Path) -> str:
    """Build, ask, and return the tables."""
    only = options.only.split(",")
    if unknown := set(only) - set(PARTS):
        raise Trouble(f"--only: there is no {', '.join(sorted(unknown))}.")
    source = options.data or documentation.prepare()
    if not (source / "queries.jsonl").is_file():
        raise Trouble(f"{source} holds no queries.jsonl.")
    began, load = time.monotonic(), os.getloadavg()[0]
    data.unpack(source, folder)
    python = relays.install("search", relays.ROOT / "requirements.txt", relays.HERE / "requirements-search.txt")
    compared = {"quality", "latency"} & set(only)
    without = options.without.split(",")
    wanted = [name for name, short in PEERS.items() if short not in without]
    run = Run(data.load(source, folder), source, folder, python, options.data is None)

    def progress(what: str) -> None:
        say(f"{time.monotonic() - began:5.0f} s  {what}")

    try:
        progress("indexing")
        with run.witness.watch("build"):
            run.build(wanted if compared else [name for name in wanted if "scale" in only and name in LARGE_PEERS])
        if compared:
            progress("asking every engine")
            with run.witness.watch("ask"):
                run.ask()
        if "http" in only:
            progress("asking over HTTP")
            with run.witness.watch("http"):
                run.http()
        if "scale" in only:
            progress("a large site")
            run.large()
    finally:
        run.end()
    if options.json:
        summary = to_json(table.summarize(run.figures, run.witness))
        options.json.write_text(json.dumps({"summary": summary, **raw(run.figures)}))
    head = (
        f"Python {platform.python_version()}, {os.cpu_count()} cores (load {load:.1f} before), "
        f"{len(run.data.judged)} queries and {len(run.data.identifiers)} identifiers on {len(run.data.sets)} sets, "
        f"{time.monotonic() - began:.0f} s. "
    )
    return "\n\n".join([head + "`!` misses its target.", *tables(only, run.figures), *notes(run.figures)])


def tables(only: list[str], figures: Figures) -> list[str]:
    """The tables of the parts that were run."""
    shown = []
    if "quality" in only:
        shown += [table.quality(figures), table.sets(figures), table.order(figures)]
    if "latency" in only:
        shown.append(table.latency(figures))
    if "http" in only:
        shown.append(table.http(figures))
    if "scale" in only:
        shown.append(table.large(figures))
    return [*shown, table.build(figures)]


def notes(figures: Figures) -> list[str]:
    """What else there is to say."""
    return ["\n".join(f"- {note}" for note in figures.notes)] if figures.notes else []


def raw(figures: Figures) -> dict[str, Any]:
    """All samples, ready for JSON."""
    all_answers = {**figures.answers, **{f"HTTP, {clients}": answers for clients, answers in figures.http.items()}}
    return {
        "answers": {
            name: [
                {"qid": answer.query.id, "pages": answer.pages, "scores": answer.scores, "ms": answer.ms}
                for answer in answers
            ]
            for name, answers in all_answers.items()
        },
        "build": figures.build,
        "http_seconds": figures.http_seconds,
        "large": {f"{engine} | {kind}": spent for (engine, kind), spent in figures.large.items()},
        "large_build": figures.large_build,
        "notes": figures.notes,
    }


def main() -> int:
    """Run."""
    options = arguments()
    return run("search", MAX_SECONDS, lambda folder: bench(options, folder))


if __name__ == "__main__":
    sys.exit(main())
