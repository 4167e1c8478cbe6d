"""Builds and tries all that a release publishes, and prints a table: what, its size, where it was tried, what was seen.

The files, and pictures of the pages, are then in `var/release`. A package that fails ends the run with status 1, after
the others were tried.
"""

import argparse
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.processes import ROOT
from tests.release import build, containers, docusaurus_site, mkdocs_site, python_package, react_app
from tests.release.python_package import Demo
from tests.release.trial import Row, Trial

STEPS: dict[str, Callable[[Trial, Demo], Iterator[Row]]] = {
    "mkdocs": mkdocs_site.rehearse,
    "docusaurus": docusaurus_site.rehearse,
    "react": react_app.rehearse,
}
NAMES = ["python", *STEPS, "containers"]


def main() -> None:
    """Run the steps that were chosen, or all."""
    parser = argparse.ArgumentParser(prog="make release-check")
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--pythons", default="python3.11,python3.12,python3.13,python3.14")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    if unknown := set(chosen) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    output = ROOT / "var" / "release"
    rows: list[Row] = []
    failed: list[str] = []

    def collect(name: str, found: Iterator[Row]) -> None:
        try:
            for row in found:
                rows.append(row)
                sys.stdout.write(f"{row}\n")
        except Exception as failure:  # the others are tried all the same
            failed.append(name)
            if isinstance(failure, subprocess.CalledProcessError):
                sys.stderr.write(f"{failure.stdout or ''}\n{failure.stderr or ''}\n")
            traceback.print_exception(failure)

    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        trial = Trial(Path(folder), output, build.build(output))
        if "python" in chosen:
            collect("python", python_package.rehearse(trial, arguments.pythons.split(",")))
        if "containers" in chosen:
            collect("containers", containers.rehearse(trial))
        if sites := [name for name in STEPS if name in chosen]:
            with python_package.serve_demo(trial, sys.executable) as demo:
                for name in sites:
                    collect(name, STEPS[name](trial, demo))
    sys.stdout.write("\n| package | size | tried with | seen |\n| --- | --- | --- | --- |\n")
    sys.stdout.writelines(f"{row}\n" for row in rows)
    if failed:
        sys.exit(f"\nFailed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
