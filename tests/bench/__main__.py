"""Run all four benchmarks in small form, and print one table of ratios with the targets; some fifteen minutes.

    make bench [DATA=folder] [WRITE=1]
    python -m tests.bench [DATA] [--only stream,search] [--write] [--keep FOLDER]

Without a folder of judged queries, the documentation is Django's (`tests.bench.documentation`). `--write` puts the
table into the page "Performance" of the documentation. Each benchmark's own tables go to stderr while it runs.

A row is void when other work took more than 15 % of the machine while it was measured.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import documentation, page, summary
from tests.bench.relays import ROOT, Trouble, say

PAGE, HEADING = page.CONTENT / "performance.md", "## The table"
MAX_SECONDS = 900
STREAM = "--rounds 1 --asks 30 --only memory,first,light,paced,keyed"
SEARCH = "--only quality,latency,http --without fts5-pages,orama"
ANALYTICS = "--views 300000 --only queries,http --without duckdb-approx,clickhouse-by-page"


def arguments() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("data", type=Path, nargs="?", help="folder of judged queries; else Django's documentation with our questions")
    add("--only", default="stream,search,answers,analytics", help="benchmarks to run")
    add("--write", action="store_true", help="put the table into the page of the documentation")
    add("--keep", type=Path, help="also keep every benchmark's samples in this folder")
    return parser.parse_args()


def list_benchmarks(data: Path | None) -> dict[str, list[str]]:
    """The arguments of each benchmark's small form."""
    named = [str(data)] if data else []
    return {
        "stream": ["tests.bench.stream", *STREAM.split(), *(["--data", str(data)] if data else [])],
        "search": ["tests.bench.search", *named, *SEARCH.split()],
        "answers": ["tests.bench.answers", *named],
        "analytics": ["tests.bench.analytics", *ANALYTICS.split()],
    }


def measure(command: Sequence[str], file: Path) -> tuple[list[summary.Row], list[str]]:
    """The rows of one benchmark, and what went wrong."""
    process = subprocess.Popen([sys.executable, "-m", *command, "--json", str(file)], cwd=ROOT, stdout=sys.stderr)
    try:
        code = process.wait(MAX_SECONDS)
    except subprocess.TimeoutExpired:
        code = 1
    finally:
        if process.poll() is None:
            process.terminate()  # it ends what it has started
            process.wait(30)
    if code or not file.exists():
        return [], [f"{command[0].rpartition('.')[2]} failed; see above."]
    answer = json.loads(file.read_text())
    return summary.from_json(answer["summary"]), answer["notes"]


def main() -> int:
    """Run what is asked for, one after the other."""
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the benchmark that runs ends, too
    began = time.monotonic()
    rows: list[summary.Row] = []
    notes: list[str] = []
    try:
        if not options.data:
            documentation.prepare()
        with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
            folder = options.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            for name, command in list_benchmarks(options.data).items():
                if name in options.only.split(","):
                    say(f"{time.monotonic() - began:5.0f} s  === {name}")
                    found, remarks = measure(command, folder / f"{name}.json")
                    rows += found
                    notes += [f"{name}: {note}" for note in remarks]
        source = "the folder that was named" if options.data else f"the documentation of {documentation.PACKAGE}"
        void = sum(row.verdict.startswith("void") for row in rows)
        text = "\n\n".join([
            f"Measured on {page.describe_machine()}, with {source}, in {(time.monotonic() - began) / 60:.0f} minutes. "
            + (f"Other work on the machine made {void} of {len(rows)} rows void." if void else "No row was void."),
            summary.render(rows),
            "\n".join(f"- {note}" for note in notes),
        ]).strip()  # fmt: skip
        if options.write:
            page.replace_section(PAGE, HEADING, text)
    except Trouble as trouble:
        say(str(trouble))
        return 1
    sys.stdout.write(text + "\n")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
