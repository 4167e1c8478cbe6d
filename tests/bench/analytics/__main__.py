"""Count unique visitors with ours and its peers, in one run on the same history, and print tables with the targets.

    make bench-analytics [VIEWS=1000000] [ONLY=queries,http] [WITHOUT=postgresql,clickhouse] [JSON=FILE]
    python -m tests.bench.analytics --help

Every engine answers the same question for the last 1, 7, 30 and 90 days: unique visitors, human, AI and both without
counting anyone twice, of the whole site and of each of 5,000 pages. Packages of the peers go into `.venv-bench`.

What the figures mean:

- Times are medians of at least 3 and at most 11 calls in the engine's process, to the rows as its client gives them: a
  page's number and three counts. Engines take turns. Each question was asked once before.
- "Most off" is against brute force over all four ranges: the largest difference of any row, and the largest as a share
  of the true count.
- Bytes per view are of what queries read; for raw rows that is the table with its index.
- "Loaded/s" counts everything up to the first answer. The peers load in bulk; ours takes batches of 1,000 views, each
  acknowledged when it is on the disk, and seals them.
- "Per CPU s" is by the second of processor time that ours took, which says more on a machine that others use, too.
- The tenth of the history has a tenth of the visitors, and the same pages and days.
- An empty view passes the service's own chain for API paths and does nothing.
"""

import argparse
import json
import os
import platform
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench.analytics import engines, table
from tests.bench.analytics.engines import OURS, PACKAGES, SMALL, SMALL_POSTGRES
from tests.bench.analytics.measure import TENTH, Figures, Run
from tests.bench.relays import Trouble, say
from tests.bench.run import run
from tests.bench.summary import to_json

PARTS = ("queries", "growth", "http")
POSTGRES = "postgresql"
MOST_SECONDS = 2_400
LOADS = 10  # parts in which ours loads, so that there is progress to tell


def arguments() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("--views", type=int, default=1_000_000, help="of the history")
    add("--only", default=",".join(PARTS), help=f"parts, of {','.join(PARTS)}")
    add("--without", default="", help=f"peers to leave out, of {','.join(PACKAGES)}")
    add("--json", type=Path, help="also write all samples here")
    return parser.parse_args()


def bench(options: argparse.Namespace, folder: Path) -> str:
    """Load, ask, and return the tables."""
    only, without = options.only.split(","), options.without.split(",")
    if unknown := set(only) - set(PARTS):
        raise Trouble(f"--only: there is no {', '.join(sorted(unknown))}.")
    if unknown := set(filter(None, without)) - set(PACKAGES):
        raise Trouble(f"--without: there is no {', '.join(sorted(unknown))}.")
    began, load = time.monotonic(), os.getloadavg()[0]
    peers = [name for name in PACKAGES if name not in without] if "queries" in only else []
    run = Run(folder, options.views, lambda what: say(f"{time.monotonic() - began:5.0f} s  {what}"))
    with ExitStack() as stack:
        stack.callback(run.end)
        run.generate()
        run.load(OURS, lambda: engines.start_ours(OURS, folder), parts=LOADS)
        if "growth" in only:
            run.load(SMALL, lambda: engines.start_ours(SMALL, folder), TENTH)
        address = ""
        if POSTGRES not in without:
            try:
                address = stack.enter_context(engines.postgres()).address
            except Trouble as trouble:
                run.figures.notes.append(str(trouble))
        stack.callback(run.end)  # before the server
        if address and "growth" in only:
            run.load(SMALL_POSTGRES, lambda: engines.start_ours(SMALL_POSTGRES, folder, address), TENTH)
        for name in peers:
            if name != POSTGRES or address:
                run.load(name, lambda name=name: engines.start_peer(name, folder, address))
        if {"queries", "growth"} & set(only):
            with run.witness.watch("ask"):
                run.ask()
    if "http" in only:
        with run.witness.watch("http"):
            run.http()
    if options.json:
        summary = to_json(table.summarize(run.figures, run.witness))
        options.json.write_text(json.dumps({"summary": summary, **raw(run.figures)}))
    head = (
        f"Python {platform.python_version()}, {os.cpu_count()} cores (load {load:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after), {options.views:,} views, {time.monotonic() - began:.0f} s."
    )
    return "\n\n".join([head, *tables(run.figures)])


def tables(figures: Figures) -> list[str]:
    """Everything there is to show."""
    shown = [table.compared(figures), table.ours(figures)]
    if figures.http:
        shown.append(table.http(figures))
    shown.append(table.targets(figures))
    return [*shown, "\n".join(f"- {note}" for note in figures.notes)] if figures.notes else shown


def raw(figures: Figures) -> dict[str, Any]:
    """All samples, ready for JSON."""
    return {
        "views": figures.views,
        "ms": {f"{name} | {days}": spent for (name, days), spent in figures.ms.items()},
        "first": figures.first,
        "loads": {name: {k: v for k, v in loaded.items() if k != "access"} for name, loaded in figures.loads.items()},
        "errors": figures.errors,
        "http": asdict(figures.http) if figures.http else None,
        "notes": figures.notes,
    }


def main() -> int:
    """Run."""
    options = arguments()
    return run("analytics", MOST_SECONDS, lambda folder: bench(options, folder))


if __name__ == "__main__":
    sys.exit(main())
