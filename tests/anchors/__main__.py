"""Print the table: python -m tests.anchors FOLDER [--only NAME,NAME] [--misses NUMBER]."""

import argparse
import sys
from pathlib import Path

from tests.anchors.building import BuildFailed, build
from tests.anchors.measuring import compare
from tests.anchors.sites import SITES

HEAD = ("site", "generator", "pages", "built", "our pages exist", "our anchors exist", "of")


def main() -> None:
    """Fetch, build and compare each site, one after the other."""
    parser = argparse.ArgumentParser(prog="make anchors")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--misses", type=int, default=3)
    options = parser.parse_args()
    names = set(filter(None, options.only.split(",")))
    if unknown := names - {site.name for site in SITES}:
        parser.error(f"there is no site {', '.join(sorted(unknown))}")
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for site in SITES:
        if names and site.name not in names:
            continue
        folder = options.folder.resolve() / site.name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            built = build(site, folder)
            found = compare(site, folder / "source", built)
        except (BuildFailed, ValueError) as wrong:
            rows.append((site.name, site.generator, *[""] * (len(HEAD) - 2)))
            notes += [f"{site.name}, not compared: {wrong}", *([f"    {site.reasons}"] if site.reasons else [])]
            continue
        rows.append(
            (
                site.name,
                site.generator,
                str(found.pages),
                str(found.pages_built),
                _percent(found.pages_found, found.pages),
                _percent(found.anchors_found, found.anchors),
                str(found.anchors),
            )
        )
        for kind, misses in (
            ("no such page", found.missing_pages),
            ("no such anchor", found.missing_anchors),
            ("built, not read", found.unindexed),
            ("unreadable", found.unreadable),
        ):
            if misses:
                notes.append(f"{site.name}, {kind} ({len(misses)}):")
                notes += [f"    {miss}" for miss in misses[: options.misses]]
        notes += [f"{site.name}, why: {site.reasons}"] if site.reasons else []
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    lines = [HEAD, tuple("-" * width for width in widths), *rows]
    cells = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    sys.stdout.write("\n".join([*(f"| {' | '.join(line)} |" for line in cells), "", *notes, ""]))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


main()
