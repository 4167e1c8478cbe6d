"""The wheel, which `pip install .` makes, has all that the service needs outside a clone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.conftest import PATIENCE
from tests.ports import free_port
from tests.processes import ROOT

COMMAND = [sys.executable, "-c", "from docsite.command import main; main()"]


@pytest.mark.node
@pytest.mark.matrix
def test_an_installed_package_serves_pages_and_the_widget(tmp_path: Path, migrated: Path) -> None:
    """The command `docs-service` works in any folder, with its data in a folder of the user."""
    build = [*("pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet"), "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, "-m", *build], cwd=ROOT, check=True)
    packages, folder = tmp_path / "packages", tmp_path / "anywhere"
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
    folder.mkdir()
    (data := tmp_path / "share" / "docs-service").mkdir(parents=True)
    (data / "db.sqlite3").write_bytes(migrated.read_bytes())
    unset = ("DATA_DIR", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"PYTHONPATH": str(packages), "PYTHONSAFEPATH": "1", "XDG_DATA_HOME": str(data.parent)}
    port = free_port()
    serve = [*COMMAND, "serve", "--port", str(port)]
    with subprocess.Popen(serve, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert any("Ready" in line for line in process.stdout)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False) as client:
                for path in ("/", "/changelog", "/de", "/widget.js", "/static/site/css/tokens.css", "/admin/login/"):
                    assert client.get(path).status_code == 200, path
        finally:
            process.terminate()
    assert not list(folder.iterdir())
    assert (packages / "docsite/deploy/set-up.sh").exists()
    assert (packages / "search/text/english-words.txt.gz").exists()
    assert not list(packages.rglob(".env"))
    names = next(packages.glob("*.dist-info")).joinpath("entry_points.txt").read_text()
    assert "docs-service = docsite.command:main" in names


def test_the_secrets_of_containers_stay_in_the_clone(tmp_path: Path) -> None:
    """What the section “Docker” of the page writes."""
    files = ("docsite/deploy/.env", "docsite/deploy/tls/privkey.pem")
    for file in files:
        ignored = subprocess.run(["git", "check-ignore", "--no-index", "--quiet", file], cwd=ROOT, check=False)
        assert ignored.returncode == 0
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for name in (*files, "docsite/.env", "docsite/deploy/compose.yaml", "docsite/__init__.py"):
        (path := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    chosen = {chosen.relative_path for chosen in WheelBuilder(str(tmp_path)).recurse_selected_project_files()}
    assert chosen == {"docsite/deploy/compose.yaml", "docsite/__init__.py"}
