"""Bring a site into the folder of sites, and build it with its own generator."""

import os
import subprocess
import sys
from pathlib import Path

from tests.anchors.sites import RealSite

MAX_SECONDS = 1800  # for one command


class BuildFailed(Exception):
    """A site could not be fetched or built. The text is the sentence for the table."""


def build(site: RealSite, folder: Path) -> Path:
    """The folder of the site's built pages; they are built unless they exist. Raises BuildFailed.

    `folder` has `source` (the checkout), `venv` (the generator from PyPI) and `build.log`.
    """
    source = folder / "source"
    built = source / site.built
    if not (source / site.docs).is_dir():
        _fetch(site, source, folder)
    if not any(built.rglob("*.html")):
        if site.requirements and not (folder / "venv").exists():
            _run(folder, folder, f"{sys.executable} -m venv venv && venv/bin/pip install -q {site.requirements}")
        for command in site.commands:
            _run(folder, source, command)
    if not any(built.rglob("*.html")):
        raise BuildFailed(f"no page was built, see {folder / 'build.log'}")
    return built


def _fetch(site: RealSite, source: Path, folder: Path) -> None:
    source.mkdir(parents=True, exist_ok=True)
    address = f"https://github.com/{site.repository}"
    _run(folder, source, f"git init -q && git fetch -q --depth 1 {address} {site.commit} && git checkout -q FETCH_HEAD")


def _run(folder: Path, where: Path, command: str) -> None:
    paths = [str(folder / "venv" / "bin"), str(where / "node_modules" / ".bin"), os.environ.get("PATH", "")]
    environment = {**os.environ, "PATH": os.pathsep.join(paths), "CI": "1", "NODE_OPTIONS": "--max-old-space-size=4096"}
    with (folder / "build.log").open("a") as log:
        log.write(f"$ {command}\n")
        log.flush()
        try:
            done = subprocess.run(
                command, shell=True, cwd=where, env=environment, stdout=log, stderr=log, timeout=MAX_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise BuildFailed(f"took longer than {MAX_SECONDS} s: {command[:60]}") from None
    if done.returncode:
        raise BuildFailed(f"failed, see {folder / 'build.log'}: {command[:60]}")
