"""Measure our answers without a model on judged queries, and print tables with the targets.

    make bench-answers DATA=folder [ONLY=quality,http] [VERBOSE=1] [JSON=FILE]
    python -m tests.bench.answers --help

The folder is that of `make bench-search`. No packages beside the service's own are needed.

What the figures mean:

- Each set is judged with weights that have not seen it: ranking and answerability are trained on the other sets.
  On Django's documentation the shipped weights are used: nothing was trained on it.
- A query is asked as it was written, with its filter. Identifiers, typos and prefixes are left to `bench-search`.
- Source recall is the share of a query's right pages among the sources of its answer; a refusal has none. Search's
  recall@5 is of the same weights in the same run. Judgements are known-item: other pages may also answer.
- "Section quoted" is of questions that stand on their page as a heading, a title or a bold line: the answer has the
  first eight words of what follows there.
- Foreign queries are those of the other sets. Some do have an answer: all sets are about software.
- Precision is the share of refusals that are right if as many foreign as own queries are asked.
- A citation leads wrong when there is no such page or anchor, or when the words that it marks do not stand there, or
  first under another heading.
- Over HTTP our process has the first core, its clients and the fake model server the last one. The fake model writes
  a hundred tokens at once; the time to its first text is that of the search, the prompt and the relay.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

from tests.bench import documentation
from tests.bench.answers import table
from tests.bench.answers.measure import Run
from tests.bench.relays import Trouble, say
from tests.bench.run import run
from tests.bench.summary import to_json
from tests.training import data

PARTS = ("quality", "http")
MAX_SECONDS = 900


def arguments() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("data", type=Path, nargs="?", help="folder with corpora and queries.jsonl; else Django's documentation")
    add("--only", default=",".join(PARTS), help=f"parts, of {','.join(PARTS)}")
    add("--verbose", action="store_true", help="also list what went wrong")
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
    judged = data.load(source, folder)

    def progress(what: str) -> None:
        say(f"{time.monotonic() - began:5.0f} s  {what}")

    run = Run(judged, source, folder, progress, options.data is None)
    shown = []
    try:
        run.progress("indexing")
        run.build()
        if "quality" in only:
            with run.witness.watch("ask"):
                run.ask()
            shown += [part(run.figures) for part in (table.sources, table.answers, table.refusals, table.links)]
            if options.verbose:
                run.explain()
                shown.append(table.worst(run.figures))
        if "http" in only:
            run.progress("asking over HTTP")
            with run.witness.watch("http"):
                run.http()
            shown.append(table.http(run.figures))
    finally:
        run.end()
    if options.json:
        summary = to_json(table.summarize(run.figures, run.witness))
        options.json.write_text(json.dumps({"summary": summary, **run.raw()}))
    head = (
        f"Python {platform.python_version()}, {os.cpu_count()} cores (load {load:.1f} before), "
        f"{len(judged.judged)} queries on {len(judged.sets)} sets, {time.monotonic() - began:.0f} s. "
    )
    notes = ["\n".join(f"- {note}" for note in run.figures.notes)] if run.figures.notes else []
    return "\n\n".join([head + "`!` misses its target.", *shown, *notes])


def main() -> int:
    """Run."""
    options = arguments()
    return run("answers", MAX_SECONDS, lambda folder: bench(options, folder))


if __name__ == "__main__":
    sys.exit(main())
