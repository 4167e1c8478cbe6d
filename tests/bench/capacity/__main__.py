"""Measure what one machine carries, on SQLite and PostgreSQL, and write the page "At scale" from it.

    make capacity [SHORT=1] [WRITE=1] [JSON=FILE]
    python -m tests.bench.capacity --help

Each database is filled once: 10,000 projects, 10 million views, 100,000 sections and a million conversations, half of
which belong to one project. Then searches, questions without a model, single views and a mix of them (16 : 3 : 1 in
views, searches and questions) come from eight clients that wait for each answer, on one process and two, to 1, 100 and
all of the projects. Last come an operator's tasks: admin pages, backup, `migrate`, the sweep.

`--from FILE` writes the tables again from the JSON of an earlier run, with other assumptions: `--assume searches=0.05`.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench import documentation, page
from tests.bench.capacity import chart, costs, report
from tests.bench.capacity.measure import POSTGRESQL, SQLITE, Amounts, Results, Run
from tests.bench.relays import ROOT, Trouble, say
from tests.bench.run import run

PAGE = page.CONTENT / "at-scale.md"
PICTURE = ROOT / "static/site/img/costs.svg"
MAX_SECONDS = 4 * 3_600
SHORT = {"projects": (1, 20, 100), "views": 100_000, "sections": 5_000, "conversations": 10_000, "seconds": 2.0}
LONG = {"projects": (1, 100, 10_000), "views": 10**7, "sections": 10**5, "conversations": 10**6, "seconds": 5.0}


def arguments() -> argparse.Namespace:
    """What to measure, and how much of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("--short", action="store_true", help="a hundredth of everything")
    add("--databases", default=f"{SQLITE},{POSTGRESQL}", help="to measure")
    add("--projects", help="to spread requests over; the most is what the databases hold")
    add("--processes", default="1,2")
    add("--views", type=int)
    add("--sections", type=int)
    add("--conversations", type=int)
    add("--seconds", type=float, help="of one load")
    add("--data", type=Path, help="folder of judged queries; else Django's documentation")
    add("--folder", type=Path, default=Path(tempfile.gettempdir()), help="for the databases; 20 GB in the long form")
    add("--json", type=Path, help="also write everything here, after each step")
    add("--from", dest="source", type=Path, help="measure nothing; read this file")
    add("--assume", action="append", default=[], metavar="NAME=VALUE", help=f"of {', '.join(report.ASSUMPTIONS)}")
    add("--costs", action="store_true", help="only what a request costs each part, in some twenty minutes")
    add("--write", action="store_true", help="put the tables into the page of the documentation")
    return parser.parse_args()


def choose_amounts(options: argparse.Namespace) -> Amounts:
    """The long or the short form, with what was named."""
    chosen: dict[str, Any] = dict(SHORT if options.short else LONG)
    for name in ("views", "sections", "conversations", "seconds"):
        if (value := getattr(options, name)) is not None:
            chosen[name] = value
    if options.projects:
        chosen["projects"] = tuple(map(int, options.projects.split(",")))
    return Amounts(processes=tuple(map(int, options.processes.split(","))), **chosen)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure each database, one after the other."""
    amounts, began = choose_amounts(options), time.monotonic()
    data = options.data or documentation.prepare()
    found: dict[str, Any] = {
        "machine": page.describe_machine(),
        "amounts": asdict(amounts),
        "databases": {},
        "is_short": options.short,
    }

    def keep(results: Results) -> None:
        found["databases"][results.database] = asdict(results)
        found["minutes"] = (time.monotonic() - began) / 60
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))

    for database in options.databases.split(","):
        own = folder / database
        own.mkdir()
        one = Run(database, amounts, data, own)
        try:
            one.measure(keep)
        except Trouble as trouble:
            one.results.notes.append(str(trouble)[-300:])
            keep(one.results)
    return found


def measure_costs(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """What a request costs each part."""
    began, data = time.monotonic(), options.data or documentation.prepare()
    views = options.views or LONG["views"]
    found: dict[str, Any] = {"machine": page.describe_machine(), "views": views, "costs": []}

    def keep(rows: Any) -> None:
        found["costs"], found["minutes"] = rows, (time.monotonic() - began) / 60
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))

    keep(costs.measure(options.databases.split(","), views, data, folder, keep))
    return found


def show(options: argparse.Namespace, results: dict[str, Any]) -> str:
    """The tables; also in the page, where that is wanted."""
    assumed = dict(report.ASSUMPTIONS)
    for pair in options.assume:
        name, _, value = pair.partition("=")
        if name not in assumed:
            raise Trouble(f"--assume: there is no {name}.")
        assumed[name] = float(value)
    sections = (
        {
            report.COSTS: report.describe_costs(results),
            report.COMPUTED: report.describe_computed(results["costs"], assumed),
        }
        if "costs" in results
        else {
            report.MEASURED: report.describe_measured(results),
            report.OPERATED: report.describe_operation(results),
            report.STORED: report.describe_stored(results, assumed),
        }
    )
    if options.write:
        for heading, text in sections.items():
            page.replace_section(PAGE, heading, text)
        if "costs" in results:
            PICTURE.write_text(chart.draw(results["costs"]))
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in sections.items())


def main() -> int:
    """Run."""
    options = arguments()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    if options.source:
        sys.stdout.write(show(options, json.loads(options.source.read_text())) + "\n")
        return 0
    tempfile.tempdir = str(options.folder)
    say(f"Databases are made below {options.folder} and removed in the end.")
    chosen = measure_costs if options.costs else measure
    return run("capacity", MAX_SECONDS, lambda folder: show(options, chosen(options, folder)))


if __name__ == "__main__":
    sys.exit(main())
