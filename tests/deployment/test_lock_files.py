"""Where `make demo` finds built packages: the lock files, resolved for other systems by uv in a dry run.

It asks the package registry for the names of files and downloads next to nothing.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT

MACOS = "15.0"  # what the documentation promises
PIP = Path(sys.executable).parent / "pip"
UV = Path(sys.executable).parent / "uv"
ARM, INTEL, LINUX = "aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-gnu"
# What Intel Macs have no wheel for. There is no other such package: this is why the documentation names Docker there.
FROM_SOURCE = {"requirements.txt": {"autobahn", "cbor2", "cryptography"}, "requirements-meaning.txt": {"onnxruntime"}}


def resolve(platform: str, python: str, requirements: Path) -> str:
    """What uv says to an installation from wheels only. Skips where no registry can be reached."""
    index = subprocess.run([PIP, "config", "get", "global.index-url"], capture_output=True, text=True).stdout.strip()
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": MACOS}
    environment |= {"UV_DEFAULT_INDEX": index} if index else {}
    environment |= {"SSL_CERT_FILE": certificates} if (certificates := os.environ.get("PIP_CERT")) else {}
    command = [UV, "pip", "install", "--dry-run", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    where = ["--python-platform", platform, "--python-version", python, "--target", ROOT / ".venv" / "dry-run"]
    run = subprocess.run(
        [*command, *where, "-r", requirements], capture_output=True, text=True, env=environment, timeout=120
    )
    if "Failed to fetch" in run.stderr or "error sending request" in run.stderr:
        # With its packages installed, a machine without a network runs all other tests; this one has nothing to ask.
        pytest.skip("The package registry cannot be reached.")
    return run.stderr


def without(requirements: Path, names: set[str], folder: Path) -> Path:
    """A copy of a lock file without some packages."""
    entries = re.split(r"(?m)^(?=\w)", requirements.read_text())
    copy = folder / requirements.name
    copy.write_text("".join(entry for entry in entries if entry.partition("==")[0] not in names))
    return copy


@pytest.mark.matrix
@pytest.mark.parametrize("python", ["3.11", "3.14"])
@pytest.mark.parametrize(
    "file", ["requirements-install.txt", "requirements.txt", "requirements-meaning.txt", "requirements-nats.txt"]
)
@pytest.mark.parametrize("platform", [ARM, LINUX, INTEL])
def test_built_packages_exist(platform: str, python: str, file: str, tmp_path: Path) -> None:
    missing = FROM_SOURCE.get(file, set()) if platform == INTEL else set()
    assert "Would install" in resolve(platform, python, without(ROOT / file, missing, tmp_path))
    for name in missing:  # else the documentation may promise more
        assert name in resolve(platform, python, without(ROOT / file, missing - {name}, tmp_path))
