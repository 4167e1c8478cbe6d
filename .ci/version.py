"""Writes a version into every file that names it: `make version NEW=1.4.2`.

pyproject.toml has the version; a test compares the other places with it.
"""

import re
import sys
from pathlib import Path

VERSION = r"\d+\.\d+\.\d+"
# By file, what stands before the version.
PLACES = {
    "pyproject.toml": r'^version = "',
    "README.md": r"docs-service(?:==|:)",
    "Dockerfile": r'image\.version="',
    "docsite/deploy/compose.yaml": r"VERSION:-",
    "docsite/deploy/kubernetes.yaml": r"image: registry\.example\.com/docs-service:",
    "docsite/deploy/chart/Chart.yaml": r"^(?:v|appV)ersion: ",
    "static/packages/docusaurus/package.json": r'^  "version": "',
    "static/packages/react/package.json": r'^  "version": "',
}


def find_versions(root: Path) -> dict[str, set[str]]:
    """The versions that each file names."""
    return {
        name: set(re.findall(f"{place}({VERSION})", (root / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name, place in PLACES.items()
    }


def write_version(root: Path, version: str) -> None:
    """Name another version in all files."""
    for name, place in PLACES.items():
        file = root / name
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(f"({place}){VERSION}", rf"\g<1>{version}", text, flags=re.MULTILINE), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not re.fullmatch(VERSION, sys.argv[1]):
        sys.exit("Name a version: make version NEW=1.4.2")
    write_version(Path(), sys.argv[1])
