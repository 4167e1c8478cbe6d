"""A backup: a folder with a manifest, a copy of the database, and the signing key if the service has made it."""

import hashlib
import json
import os
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings
from django.db import connection

from docsite.extras.database_copy.backup import postgresql, sqlite
from docsite.extras.database_copy.rows import BackupError, compare

FORMAT = 1
MANIFEST, KEY = "manifest.json", "secret_key"


def save(folder: Path) -> dict[str, Any]:
    """Make a backup in a new folder, which only the user of this process can enter. Returns its manifest.

    The folder appears when the backup is complete. Raises `BackupError`.
    """
    if folder.exists():
        raise BackupError(f"{folder} exists. Name a new folder.")
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        draft.mkdir(mode=0o700, parents=True)
        engine = _engine()
        counts = engine.save(draft / engine.FILE)
        manifest = {
            "format": FORMAT,
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "database": connection.vendor,
            "key": _fingerprint(),
            "rows": counts,
        }
        if not settings.ENV.secret_key:
            shutil.copyfile(settings.DATA_DIR / KEY, draft / KEY)
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=1))
        for file in draft.iterdir():
            file.chmod(0o600)
        draft.rename(folder)
    except OSError as failure:
        raise BackupError(f"{folder} cannot be written: {failure.strerror}") from None
    except sqlite3.Error as failure:
        raise BackupError(f"The database cannot be copied: {failure}.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def load(folder: Path) -> dict[str, Any]:
    """Restore a backup into an empty database. Returns its manifest. Raises `BackupError`."""
    manifest = _read_manifest(folder)
    engine = _engine()
    if manifest["database"] != connection.vendor:
        raise BackupError(f"This is a backup of {manifest['database']}, and DATABASE_URL is of {connection.vendor}.")
    if (settings.ENV.secret_key or not (folder / KEY).exists()) and manifest["key"] != _fingerprint():
        raise BackupError("SECRET_KEY is not that of the backup. Set the same one.")
    if not engine.is_empty():
        raise BackupError("The database is not empty. Move it away, or name an empty one in DATABASE_URL.")
    if not (folder / engine.FILE).exists():
        raise BackupError(f"{folder / engine.FILE} is missing.")
    try:
        compare(manifest["rows"], engine.load(folder / engine.FILE))
    except sqlite3.Error as failure:
        raise BackupError(f"The backup cannot be read: {failure}. Empty the database before you try again.") from None
    if (folder / KEY).exists() and not settings.ENV.secret_key:
        key = settings.DATA_DIR / KEY
        shutil.copyfile(folder / KEY, key)
        key.chmod(0o600)
    return manifest


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        raise BackupError(f"{folder} is no backup: it has no {MANIFEST} that can be read.") from None
    if manifest.get("format") != FORMAT:
        raise BackupError("A later release made this backup. Restore it with that release.")
    return manifest


def _engine() -> ModuleType:
    return sqlite if connection.vendor == "sqlite" else postgresql


def _fingerprint() -> str:
    """Enough of a digest of the signing key to tell it from another one, and too little to guess it from."""
    return hashlib.sha256(f"backup {settings.SECRET_KEY}".encode()).hexdigest()[:8]
