"""`manage.py doctor` says what does not work, and what to do about it."""

from pathlib import Path
from typing import Any

from tests import scenarios
from tests.ports import free_port


def test_a_set_up_with_nothing_but_faults_is_described(tmp_path: Path) -> None:
    port = free_port()
    result = scenarios.complete(
        "doctor",
        DATABASE_URL="",
        DATA_DIR=str(tmp_path),
        REDIS_URL=f"redis://127.0.0.1:{port}/0",
        OPENAI_BASE_URL=f"http://127.0.0.1:{port}/v1",
        OPENAI_MODEL="acme-1",
        EMAIL_URL=f"smtp://127.0.0.1:{port}",
        EMAIL_FROM="docs@acme.example",
        ALLOWED_HOSTS="docs.acme.example",
    )
    assert result.returncode == 1, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("✗") and "Clock" not in line] == [
        "✗ Settings",
        "✗ Database",
        "✗ Redis",
        "✗ Mail",
        "✗ Model",
    ]
    assert "  → Run: manage.py migrate" in lines
    assert all(lines[at + 1].startswith("  → ") for at, line in enumerate(lines) if line.startswith("✗"))


def test_a_working_set_up_has_nothing_to_do(tmp_path: Path, copy_database: Any) -> None:
    result = scenarios.complete("doctor", **copy_database(tmp_path))
    faults = [line for line in result.stdout.splitlines() if line.startswith("✗") and "Clock" not in line]
    assert faults == [], result.stdout
    assert "answers and can be written" in result.stdout
    assert "0 wait to be counted" in result.stdout
