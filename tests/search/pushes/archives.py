"""Archives and pushes for tests."""

import hashlib
import io
import json
import tarfile
import zipfile
from tempfile import TemporaryFile
from typing import Any

import httpx

from search.pushes.run import Push, run
from tests.conftest import Service, Tenant

PAGES = {
    "docs/index.md": b"# Acme\n\nAcme keeps parcels in order.\n",
    "docs/install.md": b"# Installing acme\n\nRun `pip install acme` to install acme.\n",
    "docs/img/logo.png": b"\x89PNG",
}


def tar(files: dict[Any, bytes], kind: str = "gz") -> bytes:
    """A tar of some files. A file may be given as a TarInfo with its content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{kind}") as archive:
        for name, content in files.items():
            entry = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def zipped(files: dict[Any, bytes]) -> bytes:
    """A zip of some files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def manifest(files: dict[str, bytes]) -> dict[str, dict[str, str]]:
    """The manifest of some files."""
    return {"files": {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}}


def put(service: Service, tenant: Tenant, body: Any, name: str = "docs", **params: str) -> httpx.Response:
    """Send a push and read all of its answer."""
    address = f"{service.url}/v1/sources/{tenant.project_id}/{name}"
    with httpx.Client(timeout=180, trust_env=False, verify=False) as client:
        return client.put(address, content=body, params=params, headers=tenant.admin)


def push(tenant: Tenant, body: bytes | dict[Any, bytes], **options: Any) -> dict[str, Any]:
    """Do a push in this process, as its own process does. Returns the last report. Raises what `run` raises."""
    reports: list[dict[str, Any]] = []
    with TemporaryFile() as file:
        file.write(body if isinstance(body, bytes) else tar(body))
        file.seek(0)
        run(Push(tenant.project.pk, "docs", **options), file, reports.append)
    assert {report["event"] for report in reports[:-1]} <= {"progress", "claimed"}
    assert reports[-1]["event"] == "end"
    return reports[-1]


def delta(files: dict[str, bytes], missing: list[str]) -> dict[str, bytes]:
    """The files of a delta."""
    return {".push-manifest.json": json.dumps(manifest(files)).encode(), **{path: files[path] for path in missing}}


def paths(tenant: Tenant) -> set[str]:
    """The pages that readers see."""
    return set(tenant.project.documents.values_list("path", flat=True))
